version = 1

grant "read-issues" {
  reason     = "triage bot reads issues"
  owner      = "dev-tools"
  expires    = "2027-03-31"
  host       = "api.example.com"
  credential = anonymous

  allow {
    methods = ["GET"]
    path    = "/repos/{owner}/{repo}/issues"
    where   = { owner = "acme", repo = slug }
    query   = { state = one_of("open", "closed", "all"), page = int, per_page = int }
  }
  allow {
    methods = ["POST"]
    path    = "/repos/acme/{repo}/issues/{number}/comments"
    where   = { repo = slug, number = int }
    body {
      type = "application/json"
      max  = "64KiB"
    }
  }
  limits {
    requests = 500
    upload   = "1MiB"
    download = "100MiB"
    rate     = "10/s"
  }
}

role "triage" {
  grants = ["read-issues"]
  tools  = ["read", "grep", "bash"]
}
