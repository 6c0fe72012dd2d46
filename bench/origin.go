package main

import (
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"time"
)

// originMain serves what the workloads ask for, over HTTP/1.1 and HTTP/2.
func originMain(args []string) error {
	flags := flag.NewFlagSet("origin", flag.ContinueOnError)
	listen := flags.String("listen", originAddr, "where")
	certificate := flags.String("certificate", "", "certificate and key, PEM")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server := &http.Server{Addr: *listen, Handler: originHandler(), ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	return server.ListenAndServeTLS(*certificate, *certificate)
}

func originHandler() http.Handler {
	small := bytes.Repeat([]byte("0123456789abcdef"), 64)
	block := make([]byte, 256<<10)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/items/{id}", func(w http.ResponseWriter, _ *http.Request) {
		header(w, len(small))
		w.Write(small)
	})
	mux.HandleFunc("GET /bulk/{bytes}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("bytes"))
		if err != nil {
			http.Error(w, "not a number", http.StatusBadRequest)
			return
		}
		header(w, n)
		for n > 0 {
			sent, err := w.Write(block[:min(n, len(block))])
			if n -= sent; err != nil {
				return
			}
		}
	})
	mux.HandleFunc("POST /bulk", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, make([]byte, 256<<10))
		fmt.Fprintln(w, n)
	})
	return mux
}

func header(w http.ResponseWriter, length int) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(length))
}

// loadPair reads certificate and key from one file.
func loadPair(file string) (tls.Certificate, error) { return tls.LoadX509KeyPair(file, file) }
