// Command goclient gets a URL with net/http, resolves a name with Go's own resolver, or
// sends messages through a WebSocket and prints the answers, as any static Go program does.
//
//	goclient get https://api.example.com/a
//	goclient resolve api.example.com
//	goclient websocket wss://api.example.com/live one two
//
// Guarantees: it sets nothing up, no proxy, no authority, no resolver. The last line
// of an answer is "STATUS VERSION". Non-guarantees: it is for tests.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"golang.org/x/net/websocket"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "get":
		return get(args[1])
	case len(args) == 2 && args[0] == "resolve":
		addrs, err := net.LookupHost(args[1])
		fmt.Println(strings.Join(addrs, " "))
		return err
	case len(args) >= 2 && args[0] == "websocket":
		return talk(args[1], args[2:])
	}
	return fmt.Errorf("usage: goclient get URL | resolve NAME | websocket URL MESSAGE...")
}

func get(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	version := map[int]string{1: "1.1", 2: "2"}[resp.ProtoMajor]
	fmt.Printf("%s\n%d %s\n", body, resp.StatusCode, version)
	return err
}

func talk(url string, messages []string) error {
	c, err := websocket.Dial(url, "", "https://"+strings.TrimPrefix(url, "wss://"))
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := websocket.Message.Send(c, m); err != nil {
			return err
		}
		var answer string
		if err := websocket.Message.Receive(c, &answer); err != nil {
			return err
		}
		fmt.Println(answer)
	}
	return c.Close()
}
