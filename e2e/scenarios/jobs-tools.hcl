# Tools of an agent, and programs that need nothing but the sandbox.

scenario "tool-reads-a-file" {
  describe = "a file of the workspace, a part of it, and one through a link inside"
  cases    = ["TOOL-03"]
  policy   = "policies/tools.hcl"
  role     = "reader"
  for_each = { file = "notes/a.txt", link = "link.txt" }
  given {
    file "notes/a.txt" { text = "what is in it\n" }
    link "link.txt" { to = "notes/a.txt" }
  }
  attempt {
    tool {
      name      = "read"
      arguments = { path = each.value }
    }
  }
  expect {
    verdict = "allow"
    output  = "what is in it"
  }
}

scenario "tool-searches" {
  describe = "grep and glob over the workspace"
  cases    = ["TOOL-07", "TOOL-14"]
  policy   = "policies/tools.hcl"
  role     = "reader"
  for_each = { grep = "needle", glob = "**/*.go" }
  given {
    file "src/a.go" { text = "package a // needle\n" }
    file "min.js" { text = "var x\n" }
  }
  attempt {
    tool {
      name      = each.key
      arguments = { pattern = each.value }
    }
  }
  expect {
    verdict = "allow"
    output  = "src/a.go"
  }
}

scenario "tool-writes-and-edits" {
  describe = "a new file, then a change in it, then what it says"
  cases    = ["TOOL-21"]
  policy   = "policies/tools.hcl"
  role     = "writer"
  attempt {
    tool {
      name      = "write"
      arguments = { path = "new/a.txt", content = "one\ntwo\n" }
    }
  }
  attempt {
    tool {
      name      = "read"
      arguments = { path = "new/a.txt" }
    }
  }
  expect {
    verdict = "allow"
    output  = "two"
  }
}

scenario "tool-runs-a-command" {
  describe = "a build step in the shell"
  cases    = ["TOOL-13"]
  policy   = "policies/tools.hcl"
  role     = "writer"
  given {
    file "a.txt" { text = "1\n2\n3\n" }
  }
  attempt {
    tool {
      name      = "bash"
      arguments = { command = "wc -l < a.txt && seq 1 5 | paste -sd+ -" }
    }
  }
  expect {
    verdict = "allow"
    output  = "1+2+3+4+5"
  }
}

scenario "programs-without-a-network" {
  describe = "compilers, interpreters and archives in a sandbox that grants nothing"
  cases    = ["USE-26", "SBX-07"]
  policy   = "policies/empty.hcl"
  for_each = {
    node   = "node -e 'console.log([1, 2].map(x => x + 1).join())'"
    python = "python3 -c 'print(\",\".join(map(str, (2, 3))))'"
    tar    = "echo 2,3 > f && tar cf t f && rm f && tar xf t && cat f"
    link   = "echo 2,3 > f && ln f g && cat g"
    perl   = "perl -e 'print join(\",\", 2, 3), \"\\n\"'"
  }
  attempt {
    run { command = ["sh", "-c", each.value] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "2,3"
    arrives = none
  }
}
