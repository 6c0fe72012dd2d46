# A Go program is built. Modules are the company's own and one library: the path of any
# other would make the proxy ask the host that the path names.

version = 1

use "go" {
  reason  = "builds download the modules that go.mod names"
  owner   = "back-end"
  proxy   = "https://go.example.com"
  modules = ["example.com/acme", "example.com/lib"]

  limits {
    requests = 2000
    download = "2GiB"
  }
}
