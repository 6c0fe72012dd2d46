# An image is built from packages of one suite.

version = 1

use "apt" {
  reason        = "image builds install packages"
  owner         = "platform"
  mirror        = "http://apt.example.com/debian"
  suites        = ["bookworm"]
  components    = ["main"]
  architectures = ["amd64", "all"]

  limits {
    requests = 2000
    download = "4GiB"
  }
}
