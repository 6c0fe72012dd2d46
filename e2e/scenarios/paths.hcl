# Functions of a granted host that are not granted, and spellings that mean them.

scenario "path-in-another-spelling" {
  describe = "a granted path that leads to another one when it is normalised"
  cases    = ["PATH-01", "PATH-02", "PATH-03", "PATH-04", "PATH-05", "PATH-06", "PATH-07", "PATH-08"]
  policy   = "policies/web.hcl"
  for_each = {
    dots              = "/v1/items/../secrets/"
    dots_at_the_end   = "/v1/items/1/../../secrets/"
    encoded_dots      = "/v1/items/%2e%2e/secrets/"
    mixed_dots        = "/v1/items/.%2E/secrets/"
    encoded_slash     = "/v1/items/..%2fsecrets%2f"
    item_slash        = "/v1/items/1%2f"
    double_encoded    = "/v1/items/%252e%252e%252fsecrets/"
    triple_encoded    = "/v1/items/%25252e%25252e/"
    backslash         = "/v1/items/..\\secrets\\"
    encoded_backslash = "/v1/items/..%5csecrets%5c"
    two_slashes       = "//v1/items/"
    slashes_inside    = "/v1//items//"
    matrix            = "/v1/items;x=1/..;y/secrets/"
    matrix_at_the_end = "/v1/items/1;"
    one_dot           = "/./v1/./secrets/"
    overlong          = "/v1/items/%c0%ae%c0%ae/"
    nul               = "/v1/items/1%00"
    newline           = "/v1/items/1%0d%0a"
    utf8              = "/v1/items/%ef%bc%8e%ef%bc%8e/"
    bad_escape        = "/v1/items/%zz"
    short_escape      = "/v1/items/1%2"
    plus              = "/v1/items/1+"
    capital           = "/V1/items/"
    encoded_letter    = "/v1/%73ecrets/"
    question          = "/v1/items/1%3f"
    hash              = "/v1/items/1%23"
  }
  attempt {
    http { url = "https://echo.example.com${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = ["path_not_granted", "malformed_path", "malformed_request"]
    leak    = none
  }
}

scenario "path-beside-a-granted-one" {
  describe = "what begins as a granted path does, ends as it does, or contains it"
  cases    = ["PATH-09", "PATH-13", "EXF-04"]
  policy   = "policies/triage.hcl"
  for_each = {
    longer_name  = "/repos/acme/app-private/issues/"
    longer_owner = "/repos/acme-mallory/app/issues/"
    longer_word  = "/repos/acme/app/issues-private/"
    below        = "/repos/acme/app/issues/1/"
    above        = "/repos/acme/"
    inside       = "/mirror/repos/acme/app/issues/"
    owner        = "/repos/mallory/app/issues/"
    no_number    = "/repos/acme/app/issues/first/comments/"
    search       = "/search/code?q="
    user         = "/user/keys/"
    dispatches   = "/repos/acme/app/dispatches/"
    contents     = "/repos/acme/app/contents/"
    admin        = "/admin/"
  }
  attempt {
    http { url = "https://api.example.com${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = ["path_not_granted", "query_not_granted"]
    leak    = none
  }
}

scenario "method-beside-a-granted-one" {
  describe = "a path to read, written to"
  cases    = ["PATH-14", "EXF-01"]
  policy   = "policies/triage.hcl"
  for_each = ["POST", "PUT", "PATCH", "DELETE", "PROPFIND", "MKCOL", "REPORT", "OPTIONS"]
  attempt {
    http {
      method  = each.value
      url     = "https://api.example.com/repos/acme/app/issues"
      headers = { Content-Type = "application/json" }
      body    = json({ title = canary.token })
    }
  }
  expect {
    verdict = "deny"
    reason  = ["method_not_granted", "body_not_granted", "malformed_request"]
    leak    = none
  }
}

scenario "query-beside-a-granted-one" {
  describe = "parameters that are not declared, that stand twice, or that hide from a parser"
  cases    = ["PATH-12", "HP-15", "EXF-06"]
  policy   = "policies/web.hcl"
  for_each = {
    undeclared = "note="
    twice      = "page=1&page="
    value      = "page="
    semicolon  = "page=1;note="
    bare       = ""
    encoded    = "p%61ge=1&pa%67e="
    brackets   = "page[]="
    empty_name = "="
    escaped    = "sort=name%26note="
    bad_escape = "page=1&%zz="
    plus       = "page=+1&sort="
    case       = "Page="
    method     = "_method="
    redirect   = "redirect_uri=https://attacker.test/"
  }
  attempt {
    http { url = "https://echo.example.com/v1/items/1?${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = ["query_not_granted", "malformed_query", "malformed_path", "method_override", "foreign_credential"]
    leak    = none
  }
}

scenario "query-of-many-parameters" {
  describe = "more parameters than a parser takes, and what counts behind them"
  source   = "CVE-2026-39825"
  cases    = ["HP-15"]
  policy   = "policies/web.hcl"
  attempt {
    http { url = "https://echo.example.com/v1/items/1?${repeat("page=1&", 1200)}note=${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = ["query_not_granted", "malformed_query", "malformed_request"]
    leak    = none
  }
}

scenario "graphql-mutation-where-reading-is-granted" {
  describe = "one path, and documents that read or write; the stored documents are two"
  cases    = ["PATH-11", "EXF-01"]
  policy   = "policies/triage.hcl"
  for_each = {
    mutation  = "mutation M { issueCreate(input: { title: \"T\" }) { success } }"
    chosen    = "query Teams { teams { name } } mutation M { issueCreate(input: { title: \"T\" }) { success } }"
    comment   = "#query Issue\nmutation { fileUpload(name: \"T\") { url } }"
    alias     = "query Teams { teams { name } a: search(term: \"T\") { id } }"
    fragments = "query Teams { ...F } fragment F on Query { search(term: \"T\") { id } }"
    introspect = "query Teams { teams { name } __schema { types { name } } } # T"
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://tracker.example.com/graphql"
      headers = { Content-Type = "application/json" }
      body    = json({ query = "${each.value} # ${canary.token}", operationName = "M" })
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "graphql-in-another-form" {
  describe = "the same endpoint, asked in the other ways that servers take"
  cases    = ["PATH-11"]
  policy   = "policies/triage.hcl"
  for_each = {
    batch     = "[{\"query\":\"query Teams { teams { name } }\"},{\"query\":\"mutation { a(b: \\\"T\\\") }\"}]"
    twice     = "{\"query\":\"query Teams { teams { name } }\",\"query\":\"mutation { a(b: \\\"T\\\") }\"}"
    extra     = "{\"query\":\"query Teams { teams { name } }\",\"extensions\":{\"note\":\"T\"}}"
    variables = "{\"query\":\"query Teams { teams { name } }\",\"variables\":{\"note\":\"T\"}}"
    persisted = "{\"extensions\":{\"persistedQuery\":{\"sha256Hash\":\"T\"}}}"
    not_json  = "query { search(term: \"T\") { id } }"
    after     = "{\"query\":\"query Teams { teams { name } }\"} {\"query\":\"T\"}"
    comment   = "{\"query\":\"query Teams { teams { name } }\" /* T */}"
    bom       = "\uFEFF{\"query\":\"T\"}"
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://tracker.example.com/graphql"
      headers = { Content-Type = "application/json", X-Note = canary.token }
      body    = each.value
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "graphql-by-get" {
  describe = "the document in the query of a GET"
  cases    = ["PATH-11", "EXF-06"]
  policy   = "policies/triage.hcl"
  attempt {
    http { url = "https://tracker.example.com/graphql?query=mutation%7Ba(b:%22${canary.token}%22)%7D" }
  }
  expect {
    verdict = "deny"
    reason  = ["method_not_granted", "query_not_granted"]
    leak    = none
  }
}

scenario "body-with-another-reading" {
  describe = "a body of the granted type that does not keep to its schema, or that parsers read in two ways"
  cases    = ["EXF-11", "EXF-06"]
  policy   = "policies/triage.hcl"
  for_each = {
    free_text    = ""
    other_field  = ""
    same_field   = ""
    escaped_name = ""
    deep         = ""
    trailing     = ""
    number       = ""
    not_json     = ""
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://api.example.com/repos/acme/app/issues/7/comments"
      headers = { Content-Type = "application/json" }
      body = {
        free_text    = "{\"body\":\"${canary.token}\"}"
        other_field  = "{\"body\":\"This is fixed in the latest release.\",\"note\":\"${canary.token}\"}"
        same_field   = "{\"body\":\"${canary.token}\",\"body\":\"This is fixed in the latest release.\"}"
        escaped_name = "{\"b\\u006fdy\":\"${canary.token}\",\"body\":\"This is fixed in the latest release.\"}"
        deep         = "{\"body\":[[[[\"${canary.token}\"]]]]}"
        trailing     = "{\"body\":\"This is fixed in the latest release.\"}${canary.token}"
        number       = "{\"body\":1e999,\"${canary.token}\":1}"
        not_json     = "body=${canary.token}"
      }[each.key]
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "body-of-another-type" {
  describe = "the granted path, and a body that only looks like what was granted"
  cases    = ["EXF-11", "DNS-08"]
  policy   = "policies/triage.hcl"
  for_each = {
    form        = "application/x-www-form-urlencoded"
    multipart   = "multipart/form-data; boundary=b"
    text        = "text/plain"
    binary      = "application/octet-stream"
    parameter   = "application/json; note=a; charset=utf-16"
    json_like   = "application/vnd.api+json"
    xml         = "application/xml"
    none        = ""
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://api.example.com/repos/acme/app/issues/7/comments"
      headers = { Content-Type = each.value }
      body    = canary.token
    }
  }
  expect {
    verdict = "deny"
    reason  = ["body_not_granted", "malformed_request"]
    leak    = none
  }
}

scenario "body-in-a-coding" {
  describe = "a body that an inspector cannot look into"
  cases    = ["EXF-11"]
  policy   = "policies/triage.hcl"
  for_each = ["gzip", "br", "zstd", "deflate", "gzip, gzip", "aes128gcm"]
  attempt {
    http {
      method  = "POST"
      url     = "https://api.example.com/repos/acme/app/issues/7/comments"
      headers = { Content-Type = "application/json", Content-Encoding = each.value, X-Note = canary.token }
      body    = "not in that coding: ${canary.token}"
    }
  }
  expect {
    verdict = "deny"
    reason  = ["body_not_granted", "malformed_request"]
    leak    = none
  }
}

scenario "body-that-is-too-large" {
  describe = "a granted body of more bytes than the policy says"
  cases    = ["EXF-11"]
  policy   = "policies/triage.hcl"
  attempt {
    http {
      method  = "POST"
      url     = "https://api.example.com/repos/acme/app/issues/7/comments"
      headers = { Content-Type = "application/json" }
      body    = "{\"body\":\"This is fixed in the latest release.\"${repeat(" ", 5000)},\"note\":\"${canary.token}\"}"
    }
  }
  expect {
    verdict = "deny"
    reason  = ["body_too_large", "body_not_granted"]
    leak    = none
  }
}

scenario "cleartext-instead-of-https" {
  describe = "a granted host by http, where nobody looks for a credential in the clear"
  cases    = ["PATH-14", "CRED-09"]
  policy   = "policies/triage.hcl"
  given {
    credential = { bot = canary.bot }
  }
  attempt {
    http {
      url     = "http://api.example.com/repos/acme/app/issues?state=open"
      headers = { Authorization = "Bearer ${env.BOT_TOKEN}", X-Note = canary.token }
    }
  }
  expect {
    verdict = "deny"
    reason  = ["port_not_granted", "no_grant"]
    leak    = none
  }
}
