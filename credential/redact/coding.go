package redact

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	maxWindow = 8 << 20 // of zstd, in bytes: what decoders should take (RFC 9659)
	freeBytes = 1 << 20 // of a decoded body, before maxRatio counts
	maxRatio  = 256     // decoded bytes for one coded byte
)

var (
	errCodings  = errors.New("the body has a coding that cannot be read")
	errTrailing = errors.New("there is something behind the coded body")
	errRatio    = errors.New("the coded body grows too much")
)

// readable is the Accept-Encoding of what a client takes and we can read. Deflate is
// not asked for: servers differ in what they take it to be.
func readable(accepted []string) string {
	var out []string
	for _, item := range strings.Split(strings.Join(accepted, ","), ",") {
		name, weight, weighted := strings.Cut(strings.TrimSpace(item), ";")
		name = strings.ToLower(strings.TrimSpace(name))
		switch name {
		case "gzip", "br", "zstd", "identity":
			if weighted {
				name += ";" + strings.TrimSpace(weight)
			}
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return "identity"
	}
	return strings.Join(out, ", ")
}

// codingOf is the one coding of a Content-Encoding, empty for none.
func codingOf(values []string) (coding string, err error) {
	for _, name := range strings.Split(strings.Join(values, ","), ",") {
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "", "identity":
			continue
		case "x-gzip":
			name = "gzip"
		case "gzip", "deflate", "br", "zstd":
		default:
			return "", errCodings
		}
		if coding != "" {
			return "", errCodings
		}
		coding = name
	}
	return coding, nil
}

// decoded is src without its coding. The first bytes are decoded already, so that what
// is not in that coding is an error.
func decoded(coding string, src io.Reader) (io.ReadCloser, error) {
	if coding == "" {
		return io.NopCloser(src), nil
	}
	d := &decoder{coded: counted{from: src}, stop: func() {}}
	d.ahead = bufio.NewReaderSize(&d.coded, 4<<10)
	if _, err := d.ahead.Peek(1); err == io.EOF {
		return io.NopCloser(d.ahead), nil // no body at all has no coding either
	}
	if err := d.open(coding); err != nil {
		return nil, err
	}
	first, err := d.first()
	if err != nil {
		d.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first), d), d}, nil
}

// decoder takes a coding off and watches how much comes of it.
type decoder struct {
	coded counted
	ahead *bufio.Reader // what the coding is read from
	plain io.Reader
	stop  func()
	out   int64 // decoded bytes
	ended bool
}

func (d *decoder) open(coding string) (err error) {
	switch coding {
	case "gzip":
		d.plain, err = gzip.NewReader(d.ahead)
	case "deflate":
		d.plain, err = zlib.NewReader(d.ahead) // RFC 9110 section 8.4.1.2; anything can be taken for bare deflate
	case "br":
		d.plain = brotli.NewReader(d.ahead)
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(d.ahead, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			d.plain, d.stop = z, z.Close
		}
	}
	return err
}

// first is the beginning of the decoded bytes.
func (d *decoder) first() ([]byte, error) {
	buf := make([]byte, 512)
	for {
		n, err := d.Read(buf)
		if n > 0 || err == io.EOF {
			return buf[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Read returns the decoded bytes. At their end it wants the end of the coded ones, too:
// the trailer is complete then.
func (d *decoder) Read(p []byte) (int, error) {
	if d.ended {
		return 0, io.EOF
	}
	n, err := d.plain.Read(p)
	if d.out += int64(n); d.out > freeBytes && d.out/maxRatio > d.coded.n {
		return 0, errRatio
	}
	if err == io.EOF {
		d.ended = true
		err = d.end()
	}
	return n, err
}

func (d *decoder) end() error {
	if _, err := d.ahead.ReadByte(); err != nil {
		return err
	}
	return errTrailing
}

// Close stops the decoder.
func (d *decoder) Close() error {
	d.stop()
	return nil
}

// counted counts what is read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}
