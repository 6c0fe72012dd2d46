package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// answer is a response whose body has been read and thrown away.
type answer struct {
	status int
	bytes  int64
	last   bool // on its connection
}

var errAnswer = errors.New("not an HTTP answer")

// readAnswer is cheap on purpose: what the client uses, the proxy cannot have.
func readAnswer(r *bufio.Reader) (a answer, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return a, err
	}
	if len(line) < 12 {
		return a, errAnswer
	}
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return a, errAnswer
	}
	length, chunked, err := a.head(r)
	switch {
	case err != nil:
	case chunked:
		a.bytes, err = discardChunks(r)
	case length < 0:
		a.last = true
		a.bytes, err = io.Copy(io.Discard, r)
	case length <= int64(r.Size()):
		var n int
		n, err = r.Discard(int(length))
		a.bytes = int64(n)
	default:
		a.bytes, err = io.CopyN(io.Discard, r, length)
	}
	return a, err
}

func (a *answer) head(r *bufio.Reader) (length int64, chunked bool, err error) {
	for length = -1; ; {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return length, chunked, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return length, chunked, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return length, chunked, errAnswer
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("connection")):
			a.last = bytes.EqualFold(value, []byte("close"))
		}
	}
}

func discardChunks(r *bufio.Reader) (total int64, err error) {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return total, err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return total, errAnswer
		}
		if _, err := io.CopyN(io.Discard, r, size+2); err != nil {
			return total, err
		}
		if total += size; size == 0 {
			return total, nil
		}
	}
}
