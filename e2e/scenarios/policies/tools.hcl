# Tools without a network: two roles, of which one only looks.

version = 1

tool "bash" {
  calls         = 100
  timeout       = "20s"
  max_output    = "64KiB"
  deny_commands = ["sudo", "git push"]
}

role "reader" {
  tools = ["read", "glob", "grep"]
}

role "writer" {
  tools = ["read", "glob", "grep", "write", "edit", "bash"]
}
