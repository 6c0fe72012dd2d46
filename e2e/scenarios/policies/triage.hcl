# A bot sorts issues. It reads those of one owner, sets labels out of four and answers
# with one of three sentences: a comment of free text would be read by anybody.

version = 1

credential "bot" {
  source { env = "BOT_TOKEN" }
  header "Authorization" { value = "Bearer ${secret}" }
  expose = "BOT_TOKEN"
}

grant "read-issues" {
  reason     = "the triage bot reads issues and their comments"
  owner      = "dev-tools"
  host       = "api.example.com"
  credential = credential.bot

  allow {
    methods = ["GET", "HEAD"]
    path    = "/repos/acme/{repo}/issues"
    where   = { repo = one_of("app", "site") }
    query   = { state = one_of("open", "closed", "all"), page = int, per_page = int }
  }
  allow {
    methods = ["GET"]
    path    = "/repos/acme/{repo}/issues/{number}/comments"
    where   = { repo = one_of("app", "site"), number = int }
  }

  limits {
    requests = 500
    download = "100MiB"
  }
}

grant "answer-issues" {
  reason     = "the triage bot labels issues and answers them"
  owner      = "dev-tools"
  host       = "api.example.com"
  credential = credential.bot

  allow {
    methods = ["POST"]
    path    = "/repos/acme/{repo}/issues/{number}/comments"
    where   = { repo = one_of("app", "site"), number = int }
    body {
      type   = "application/json"
      max    = "4KiB"
      schema = file("comment.schema.json")
    }
  }
  allow {
    methods = ["PUT"]
    path    = "/repos/acme/{repo}/issues/{number}/labels"
    where   = { repo = one_of("app", "site"), number = int }
    body {
      type   = "application/json"
      max    = "4KiB"
      schema = file("labels.schema.json")
    }
  }

  limits {
    requests = 50
    upload   = "64KiB"
  }
}

grant "read-tracker" {
  reason     = "the triage bot looks issues up in the tracker: two stored documents, no mutation"
  owner      = "dev-tools"
  host       = "tracker.example.com"
  credential = anonymous

  allow {
    methods = ["POST"]
    path    = "/graphql"
    body {
      type   = "application/json"
      max    = "4KiB"
      schema = file("graphql.schema.json")
    }
  }

  limits {
    requests = 100
  }
}

role "triage" {
  grants = ["read-issues", "answer-issues", "read-tracker"]
  tools  = ["read", "grep"]
}
