# The triage bot, the pipeline's report and the store of artifacts: what writes, and may.

scenario "bot-reads-issues" {
  describe = "lists and comments, with the parameters that are declared"
  cases    = ["USE-28", "USE-31"]
  policy   = "policies/triage.hcl"
  role     = "triage"
  for_each = [
    "/repos/acme/app/issues", "/repos/acme/app/issues?state=open&page=2&per_page=50", "/repos/acme/site/issues?state=all", "/repos/acme/app/issues/7/comments",
  ]
  attempt {
    http {
      url     = "https://api.example.com${each.value}"
      headers = { Authorization = "Bearer ${env.BOT_TOKEN}" }
    }
  }
  expect {
    verdict = "allow"
    status  = 200
    arrives = ["GET https://api.example.com${each.value}"]
  }
}

scenario "bot-answers-an-issue" {
  describe = "one of the three sentences, with the bot's credential in its place"
  cases    = ["EXF-01", "CRED-02"]
  policy   = "policies/triage.hcl"
  role     = "triage"
  for_each = ["Thank you, we are looking into it.", "This is fixed in the latest release."]
  given {
    credential = { bot = canary.bot }
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://api.example.com/repos/acme/app/issues/7/comments"
      headers = { Content-Type = "application/json", Authorization = "Bearer ${env.BOT_TOKEN}" }
      body    = json({ body = each.value })
    }
  }
  expect {
    verdict = "allow"
    status  = 200
    arrives = ["POST https://api.example.com/repos/acme/app/issues/7/comments"]
  }
}

scenario "bot-labels-an-issue" {
  describe = "two of the four labels, with curl"
  cases    = ["EXF-01"]
  policy   = "policies/triage.hcl"
  needs    = ["curl"]
  attempt {
    run { command = ["sh", "-c", "curl -sS --fail -X PUT -H \"Authorization: Bearer $BOT_TOKEN\" -H 'Content-Type: application/json' -d '{\"labels\":[\"bug\",\"question\"]}' https://api.example.com/repos/acme/app/issues/7/labels"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    arrives = ["PUT https://api.example.com/repos/acme/app/issues/7/labels"]
  }
}

scenario "bot-asks-the-tracker" {
  describe = "a stored document of GraphQL, with a number as its variable"
  cases    = ["PATH-11"]
  policy   = "policies/triage.hcl"
  attempt {
    http {
      method  = "POST"
      url     = "https://tracker.example.com/graphql"
      headers = { Content-Type = "application/json" }
      body    = json({ query = "query Issue($number: Int!) { issue(number: $number) { title state } }", operationName = "Issue", variables = { number = 7 } })
    }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}

scenario "pipeline-reports" {
  describe = "an event for the pipeline's own project, with its key"
  cases    = ["EXF-04"]
  policy   = "policies/ci.hcl"
  for_each = ["build_started", "build_passed"]
  given {
    credential = { telemetry = canary.telemetry }
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://telemetry.example.com/api/4711/store/"
      headers = { Content-Type = "application/json", X-Sentry-Auth = "Sentry sentry_key=${env.TELEMETRY_KEY}" }
      body    = json({ event = each.value, level = "info", seconds = 90 })
    }
  }
  expect {
    verdict = "allow"
    status  = 200
    arrives = ["POST https://telemetry.example.com/api/4711/store/"]
  }
}

scenario "artifacts-are-fetched" {
  describe = "objects of the granted folder, in both ways of addressing a bucket, and with an encoded slash"
  cases    = ["USE-14", "USE-15", "EXF-05"]
  policy   = "policies/storage.hcl"
  for_each = {
    path    = "https://storage.example.com/acme-artifacts/builds/12/app.tar.gz"
    host    = "https://acme-artifacts.storage.example.com/builds/12/report.json"
    encoded = "https://cdn.example.com/b/acme-artifacts/o/builds%2f12%2fapp.tar.gz"
    escaped = "https://cdn.example.com/b/acme-artifacts/o/builds%2F12%2Fapp.tar.gz"
  }
  attempt {
    http { url = each.value }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}

scenario "report-is-left" {
  describe = "the report of a build goes into the bucket, with the store's credential"
  cases    = ["USE-13", "EXF-05"]
  policy   = "policies/storage.hcl"
  given {
    credential = { storage = canary.storage }
  }
  attempt {
    http {
      method  = "PUT"
      url     = "https://storage.example.com/acme-artifacts/builds/12/report.json"
      headers = { Content-Type = "application/json", Authorization = "Bearer ${env.STORAGE_TOKEN}" }
      body    = json({ passed = 120, failed = 0 })
    }
  }
  expect {
    verdict = "allow"
    status  = 200
    arrives = ["PUT https://storage.example.com/acme-artifacts/builds/12/report.json"]
  }
}
