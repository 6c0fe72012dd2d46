# A grant of a project that has ended. Nobody has taken it out, and it grants nothing.

version = 1

grant "old-project" {
  reason     = "the project downloads its data"
  owner      = "research"
  expires    = "2025-12-31"
  host       = "api.example.com"
  credential = anonymous

  allow {
    methods = ["GET"]
    path    = "/data/{name}"
  }

  limits {
    requests = 100
  }
}
