# Reading repositories.

scenario "git-clones-and-fetches" {
  describe = "clone, and fetch into the clone"
  cases    = ["USE-04", "EXF-02"]
  policy   = "policies/git.hcl"
  needs    = ["git"]
  given {
    credential = { reader = canary.reader }
  }
  attempt {
    run { command = ["sh", "-c", "git clone -q https://git.example.com/acme/app.git && cd app && git fetch -q origin && cat README.md"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "# acme/app"
    arrives = ["GET https://git.example.com/acme/app.git/info/refs?service=git-upload-pack", "POST https://git.example.com/acme/app.git/git-upload-pack"]
  }
}

scenario "git-clones-one-commit" {
  describe = "a shallow clone, as pipelines make them, without a credential"
  cases    = ["USE-04"]
  policy   = "policies/ci.hcl"
  needs    = ["git"]
  attempt {
    run { command = ["sh", "-c", "git clone -q --depth 1 https://git.example.com/acme/app.git && cat app/README.md"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "# acme/app"
  }
}

scenario "git-lists-refs" {
  describe = "ls-remote, with .git and without"
  cases    = ["USE-04"]
  policy   = "policies/git.hcl"
  needs    = ["git"]
  for_each = ["https://git.example.com/acme/app.git", "https://git.example.com/acme/lib.git"]
  attempt {
    run { command = ["git", "ls-remote", "--heads", each.value] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "refs/heads/"
  }
}

scenario "git-works-without-a-network" {
  describe = "commits, branches and diffs need no grant"
  cases    = ["USE-25"]
  policy   = "policies/empty.hcl"
  needs    = ["git"]
  attempt {
    run { command = ["sh", "-c", "git init -q r && cd r && echo a > a && git add a && git -c user.name=a -c user.email=a@example.com commit -qm first && git checkout -q -b b && git log --oneline --stat"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "1 file changed"
    arrives = none
  }
}
