package face

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
)

// errLine is of a line that is longer than a message may be.
var errLine = fmt.Errorf("a message is over %d bytes", maxBody)

// ServeStdio serves MCP to p, one message a line, until in ends or ctx does. It does not
// close in or out. A line that cannot be read is answered and left out; one that is too
// long ends the conversation.
func (f *Face) ServeStdio(ctx context.Context, p gateway.Principal, in io.Reader, out io.Writer) error {
	to := &lines{w: out}
	read, write := io.Pipe()
	filtered := make(chan error, 1)
	go func() {
		err := f.filter(p, in, write, to)
		_ = write.CloseWithError(errors.Join(err, io.EOF)) // which never fails
		filtered <- err
	}()
	err := f.server(p).Run(ctx, &mcp.IOTransport{Reader: read, Writer: to, MaxLineLength: maxBody})
	_ = read.Close() // which never fails
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		err = nil
	}
	select {
	case ended := <-filtered:
		return errors.Join(err, ended)
	default: // in is still open, and what reads it ends with the process
		return err
	}
}

// filter passes messages on that have one reading.
func (f *Face) filter(p gateway.Principal, in io.Reader, pass io.Writer, answers io.Writer) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if err != nil {
			if errors.Is(err, errLine) {
				f.gateway.RefuseMessage(p, capability.BodyTooLarge)
				_, _ = answers.Write(append(parseError(err), '\n')) // the conversation ends either way
				return err
			}
			return nil
		}
		if len(line) == 0 {
			continue
		}
		message, err := strict(line)
		if err != nil {
			f.gateway.RefuseMessage(p, capability.MalformedRequest)
			if _, err := answers.Write(append(parseError(err), '\n')); err != nil {
				return fmt.Errorf("answer on stdio: %w", err)
			}
			continue
		}
		if isCall(message) && !callable(message) { // which the server will say
			f.gateway.RefuseMessage(p, capability.MalformedRequest)
		}
		if _, err := pass.Write(append(message, '\n')); err != nil {
			return nil // nobody reads any more
		}
	}
}

// readLine reads a line without its end. A last line without an end is one too.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxBody {
			return nil, errLine
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		return line, nil
	}
}

// lines writes whole lines: the server and the filter both answer.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes p, which is one line.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Close does nothing: the writer is the caller's.
func (l *lines) Close() error { return nil }
