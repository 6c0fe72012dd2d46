package main

import "os"

// debianPeers are the intercepting proxies that Debian has. HAProxy and nginx take
// no CONNECT and make no certificates; they decrypt and encrypt again towards one
// fixed origin, and show what that costs in C.
func debianPeers() []peer {
	return []peer{squid(), mitmproxy(), haproxy(), nginx()}
}

const squidConfig = `http_port {proxy} ssl-bump tls-cert={keys}/proxy-ca.pem generate-host-certificates=on dynamic_cert_mem_cache_size=64MB
sslcrtd_program /usr/lib/squid/security_file_certgen -s {dir}/certificates -M 64MB
sslcrtd_children 5
tls_outgoing_options cafile={keys}/upstream.pem
acl hello at_step SslBump1
ssl_bump peek hello
ssl_bump bump all
http_access allow all
cache deny all
cache_mem 8 MB
access_log none
cache_log {dir}/cache.log
pid_filename {dir}/squid.pid
coredump_dir {dir}
dns_nameservers 127.0.0.1
shutdown_lifetime 0 seconds
max_filedescriptors 16384
visible_hostname squid.example.com
`

func squid() peer {
	p := peer{
		name: "squid, ssl-bump", program: "/usr/lib/squid/security_file_certgen", from: "squid-openssl", way: byConnect, without: []string{"W4"},
		files: map[string]string{"squid.conf": squidConfig},
		setup: [][]string{{"/usr/lib/squid/security_file_certgen", "-c", "-s", "{dir}/certificates", "-M", "64MB"}},
		// The name keeps its shared memory apart from another squid's.
		command: []string{"squid", "-N", "-n", "bench{pid}", "-f", "{dir}/squid.conf"},
	}
	if os.Geteuid() == 0 { // then it gives up root for this user
		p.setup = append(p.setup, []string{"chown", "-R", "proxy", "{dir}"})
	}
	return p
}

func mitmproxy() peer {
	return peer{
		name: "mitmproxy", program: "mitmdump", from: "mitmproxy", way: byConnect,
		setup: [][]string{{"cp", "{keys}/rsa-ca.pem", "{dir}/mitmproxy-ca.pem"}},
		command: []string{
			"mitmdump", "-q", "--listen-host", "127.0.0.1", "-p", "3128", "--set", "confdir={dir}", "--set", "flow_detail=0", "--set", "termlog_verbosity=error",
			"--set", "ssl_verify_upstream_trusted_ca={keys}/upstream.pem", "--set", "stream_large_bodies=1m",
		},
	}
}

const haproxyConfig = `global
  maxconn 4000
  nbthread 2
  tune.ssl.default-dh-param 2048
defaults
  mode http
  timeout client 1m
  timeout server 1m
  timeout connect 5s
frontend front
  bind {proxy} ssl crt {keys}/origin.pem alpn h2,http/1.1
  default_backend back
backend back
  http-reuse always
  server origin {origin} ssl verify required ca-file {keys}/upstream.pem sni str({name}) alpn http/1.1 pool-max-conn -1
`

func haproxy() peer {
	return peer{
		name: "haproxy, re-encrypting", program: "haproxy", from: "haproxy", way: instead, without: []string{"npm"},
		files:   map[string]string{"haproxy.cfg": haproxyConfig},
		command: []string{"haproxy", "-db", "-q", "-f", "{dir}/haproxy.cfg"},
	}
}

const nginxConfig = `worker_processes 2;
error_log {dir}/error.log crit;
pid {dir}/nginx.pid;
daemon off;
events { worker_connections 4000; }
http {
  access_log off;
  client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
  client_max_body_size 0; proxy_request_buffering off; proxy_max_temp_file_size 0;
  keepalive_timeout 1h; keepalive_requests 1000000000;
  upstream origin { server {origin}; keepalive 1024; keepalive_requests 1000000000; keepalive_timeout 1h; }
  server {
    listen {proxy} ssl http2 backlog=4096; http2_max_concurrent_streams 256;
    ssl_certificate {keys}/origin.pem; ssl_certificate_key {keys}/origin.pem;
    location / {
      proxy_pass https://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_ssl_server_name on; proxy_ssl_name {name}; proxy_ssl_verify on; proxy_ssl_trusted_certificate {keys}/upstream.pem;
    }
  }
}
`

func nginx() peer {
	return peer{
		name: "nginx, re-encrypting", program: "nginx", from: "nginx", way: instead, without: []string{"npm"},
		files:   map[string]string{"nginx.conf": nginxConfig},
		command: []string{"nginx", "-c", "{dir}/nginx.conf", "-p", "{dir}"},
	}
}
