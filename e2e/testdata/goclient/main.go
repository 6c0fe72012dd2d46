// Command goclient gets a URL with net/http, or resolves a name with Go's own
// resolver, as any static Go program does.
//
//	goclient get https://api.example.com/a
//	goclient resolve api.example.com
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
	}
	return fmt.Errorf("usage: goclient get URL | resolve NAME")
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
