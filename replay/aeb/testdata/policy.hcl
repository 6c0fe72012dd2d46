version = 1

grant "issues" {
  host       = "api.example.com"
  credential = anonymous

  allow {
    methods = ["GET"]
    path    = "/repos/acme/{repo}/issues"
    query   = { state = one_of("open", "closed") }
  }
  allow {
    methods = ["POST"]
    path    = "/repos/acme/{repo}/comments"
    body {
      type   = "application/json"
      max    = "1KiB"
      schema = file("answer.schema.json")
    }
  }
}
