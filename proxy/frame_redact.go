package proxy

import "slices"

// hiding takes secrets out of messages that follow each other.
type hiding struct {
	pass func(piece []byte) []byte
	end  func() []byte
}

// hiding is nil where there is no secret.
func (x *exchange) hiding() *hiding {
	r := x.redactor()
	if r == nil {
		return nil
	}
	pass, end := r.Messages()
	return &hiding{pass, end}
}

// last is what is left of a message that ends with piece.
func (h *hiding) last(piece []byte) []byte {
	return append(slices.Clip(h.pass(piece)), h.end()...)
}

// passHidden writes a message in frames of our own: holding a piece back moves their
// ends. Without extensions that is an intermediary's to do (RFC 6455 section 5.4).
func (r *frameRelay) passHidden(f wsFrame, buf []byte) error {
	if f.op != opContinuation {
		r.op = f.op
	}
	for done := int64(0); done < f.length || f.fin; {
		piece, err := r.piece(buf[:min(int64(len(buf)), f.length-done)], f, done)
		if err != nil {
			return err
		}
		if done += int64(len(piece)); done == f.length && f.fin {
			return r.frame(r.messages.last(piece), true)
		}
		if out := r.messages.pass(piece); len(out) > 0 {
			if err := r.frame(out, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// frame writes the next frame of a message.
func (r *frameRelay) frame(payload []byte, fin bool) error {
	head, _ := r.encode(wsFrame{fin: fin, op: r.op, length: int64(len(payload))})
	r.op = opContinuation
	return r.write(append(head, payload...))
}

// hideControl takes secrets out of a control frame; the code of a close frame stays.
func (r *frameRelay) hideControl(op byte, payload []byte) []byte {
	if r.controls == nil {
		return payload
	}
	code := 0
	if op == opClose {
		code = min(2, len(payload))
	}
	return slices.Concat(payload[:code], r.controls.last(payload[code:]))
}
