# An agent and its model: the key is the company's, the agent has a placeholder.

scenario "message-to-the-model" {
  describe = "a message with the placeholder as the key, in both headers that clients use"
  cases    = ["CRED-01", "USE-31"]
  policy   = "policies/llm.hcl"
  for_each = { "X-Api-Key" = "", "Authorization" = "Bearer " }
  given {
    credential = { llm = canary.llm }
  }
  attempt {
    http {
      method  = "POST"
      url     = "https://llm.example.com/v1/messages"
      headers = { Content-Type = "application/json", Anthropic-Version = "2023-06-01", (each.key) = "${each.value}${env.ANTHROPIC_API_KEY}" }
      body    = json({ model = "model-1", max_tokens = 100, messages = [{ role = "user", content = "say hello" }] })
    }
  }
  expect {
    verdict = "allow"
    status  = 200
    output  = "hello"
    arrives = ["POST https://llm.example.com/v1/messages"]
  }
}

scenario "message-over-http2" {
  describe = "the same over HTTP/2, with tools that the agent itself runs"
  cases    = ["USE-11"]
  policy   = "policies/llm.hcl"
  attempt {
    http {
      method  = "POST"
      version = "2"
      url     = "https://llm.example.com/v1/messages"
      headers = { Content-Type = "application/json", X-Api-Key = env.ANTHROPIC_API_KEY }
      body    = json({ model = "model-1", max_tokens = 100, tools = [{ name = "read", input_schema = { type = "object" } }], messages = [{ role = "user", content = [{ type = "text", text = "read it" }, { type = "image", source = { type = "base64", media_type = "image/png", data = "iVBORw0KGgo=" } }] }] })
    }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}

service "model that streams" {
  host = "llm2.example.com"
  respond {
    method  = "POST"
    path    = "/v1/responses"
    headers = { Content-Type = "text/event-stream" }
    body    = "event: response.output_text.delta\ndata: {\"delta\":\"hel\"}\n\nevent: response.output_text.delta\ndata: {\"delta\":\"lo\"}\n\nevent: response.completed\ndata: {}\n\n"
  }
}

scenario "stream-from-the-model" {
  describe = "an event stream, event by event, with curl"
  cases    = ["USE-06", "USE-34"]
  policy   = "policies/llm2.hcl"
  needs    = ["curl"]
  attempt {
    run { command = ["sh", "-c", "curl -sS -N -H \"Authorization: Bearer $OPENAI_API_KEY\" -H 'Content-Type: application/json' -H 'Accept: text/event-stream' -d '{\"model\":\"model-1\",\"store\":false,\"stream\":true,\"input\":\"hello\"}' https://llm2.example.com/v1/responses"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = ["hel", "response.completed"]
    arrives = ["POST https://llm2.example.com/v1/responses"]
  }
}

scenario "models-are-listed" {
  describe = "the list of models, and one of them"
  cases    = ["USE-31"]
  policy   = "policies/llm.hcl"
  for_each = ["/v1/models", "/v1/models?limit=20", "/v1/models/model-1"]
  attempt {
    http {
      url     = "https://llm.example.com${each.value}"
      headers = { X-Api-Key = env.ANTHROPIC_API_KEY }
    }
  }
  expect {
    verdict = "allow"
    status  = 200
    arrives = ["GET https://llm.example.com${each.value}"]
  }
}

scenario "tokens-are-counted" {
  describe = "a message is counted before it is sent, from node"
  cases    = ["USE-01"]
  policy   = "policies/llm.hcl"
  needs    = ["node"]
  attempt {
    run { command = ["node", "-e", "fetch('https://llm.example.com/v1/messages/count_tokens', { method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY }, body: JSON.stringify({ model: 'model-1', messages: [{ role: 'user', content: 'hello' }] }) }).then(r => console.log(r.status))"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "200"
  }
}
