package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"
)

// bulk moves one large body, after a small one that warms the path.
func (l *load) bulk() (score, error) {
	conn, err := l.connect("http/1.1")
	if err != nil {
		return score{}, err
	}
	defer conn.NetConn().Close()
	answers := bufio.NewReaderSize(conn, 128<<10)
	move := l.down
	if l.mode == "up" {
		move = l.up
	}
	if err := move(conn, answers, 8<<20); err != nil {
		return score{}, err
	}
	l.mark(lineBegin)
	began := time.Now()
	err = move(conn, answers, l.bytes)
	took := time.Since(began)
	l.mark(lineEnd)
	return score{Requests: 1, Bytes: l.bytes, Took: took}, err
}

func (l *load) down(conn *tls.Conn, answers *bufio.Reader, n int64) error {
	if _, err := fmt.Fprintf(conn, "GET /bulk/%d HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n", n, originURL); err != nil {
		return err
	}
	a, err := readAnswer(answers)
	if err == nil && (a.status != http.StatusOK || a.bytes != n) {
		err = fmt.Errorf("status %d with %d of %d bytes", a.status, a.bytes, n)
	}
	return err
}

func (l *load) up(conn *tls.Conn, answers *bufio.Reader, n int64) error {
	if _, err := fmt.Fprintf(conn, "POST /bulk HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n", originURL, n); err != nil {
		return err
	}
	block := make([]byte, 256<<10)
	for left := n; left > 0; {
		sent, err := conn.Write(block[:min(left, int64(len(block)))])
		if err != nil {
			return err
		}
		left -= int64(sent)
	}
	a, err := readAnswer(answers)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("status %d", a.status)
	}
	return err
}
