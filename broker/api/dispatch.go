package api

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
)

// errUnsupported closes the connection: the API is not served, or not in that version. Kafka does
// the same, since it could not even read the header.
var errUnsupported = errors.New("unsupported API key or version")

var errBodyTooLarge = errors.New("request is larger than any of its kind may be")

const (
	// maxDecodedBytes bounds the body of every request but Produce. A decoded request takes up to
	// some 50 times the bytes of its body, and the largest sensible ones are about 2 MiB (offsets of
	// 100,000 partitions).
	maxDecodedBytes = 4 << 20
	// largeBodyBytes is the size from which on few requests are decoded at the same time.
	largeBodyBytes = 128 << 10
)

// request is one request while it is being served. It belongs to its connection and is used again
// for the next: a second phase copies what it needs.
type request struct {
	header
	endpoint *endpoint
	conn     *network.Conn
	handler  *Handler
	image    *metadata.Image
	received time.Time
	large    bool // its body is above largeBodyBytes
}

// connState is what the handler keeps per connection.
type connState struct {
	request request
	// softwareName and softwareVersion are what the client said of itself (KIP-511).
	softwareName, softwareVersion string
}

// Serve answers one frame.
func (h *Handler) Serve(c *network.Conn, frame *network.Buffer) network.Reply {
	state, ok := c.State.(*connState)
	if !ok {
		state = &connState{}
		c.State = state
	}
	hdr, body, err := h.table.parseHeader(frame.B)
	if err != nil {
		h.metrics.rejected.Add(1)
		return network.Close(fmt.Errorf("%w: key %d version %d (frame starts %s)", err, hdr.key, hdr.version, hex.EncodeToString(frame.B[:min(len(frame.B), 16)])))
	}
	r := &state.request
	*r = request{header: hdr, endpoint: h.table.endpoint(hdr.key), conn: c, handler: h, image: h.image.Load(), received: h.now()}
	h.metrics.requests[hdr.key].Add(1)
	reply := r.endpoint.serve(h, r, body)
	if closes, err := reply.Closes(); closes && err != nil {
		return network.Close(fmt.Errorf("%s v%d: %w", r.endpoint.name, r.version, err))
	}
	return reply
}

// flexible reports whether the request and its response use compact encodings and tags.
func (r *request) flexible() bool { return r.endpoint.flexible(r.version) }

// reply starts a response of about size bytes: length and header are written.
func (r *request) reply(size int) *network.Buffer {
	buf := r.conn.Pool().GetReply(size + 5)
	buf.B = appendInt32(buf.B, r.correlationID)
	if r.key != apiVersionsKey {
		buf.B = appendNoTags(buf.B, r.flexible())
	}
	return buf
}

// context ends with the request's own timeout (milliseconds) or when the connection is cut off.
func (r *request) context(timeoutMillis int32) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.conn.Context(), max(time.Duration(timeoutMillis)*time.Millisecond, 0))
}

// decoded makes a handler of a function on kmsg's structs. A nil answer sends nothing and closes the
// connection.
func decoded[Req kmsg.Request](serve func(*Handler, *request, Req) kmsg.Response) func(*Handler, *request, []byte) network.Reply {
	return func(h *Handler, r *request, body []byte) network.Reply {
		if len(body) > maxDecodedBytes {
			return network.Close(errBodyTooLarge)
		}
		if len(body) > largeBodyBytes {
			h.decoding <- struct{}{}
			defer func() { <-h.decoding }()
		}
		req, ok := kmsg.RequestForKey(r.key).(Req)
		if !ok {
			panic(fmt.Sprintf("BUG: api: key %d has the handler of another request", r.key))
		}
		req.SetVersion(r.version)
		if err := req.ReadFrom(body); err != nil {
			return network.Close(fmt.Errorf("%w: %w", errMalformed, err))
		}
		resp := serve(h, r, req)
		if resp == nil {
			return network.Close(errMalformed)
		}
		return network.Done(r.encode(resp))
	}
}

// encode writes resp in the request's version.
func (r *request) encode(resp kmsg.Response) *network.Buffer {
	resp.SetVersion(r.version)
	buf := r.reply(256)
	buf.B = resp.AppendTo(buf.B)
	buf.Charge(&r.handler.replyMemory.used)
	return buf
}

// log adds what identifies a request to a record.
func (r *request) log(level slog.Level, msg string, attrs ...slog.Attr) {
	ctx := context.Background()
	if !r.handler.logger.Enabled(ctx, level) {
		return
	}
	attrs = append(attrs, slog.String("api", r.endpoint.name), slog.String("client", string(r.clientID)), slog.Int("correlation", int(r.correlationID)), slog.Any("conn", r.conn))
	r.handler.logger.LogAttrs(ctx, level, msg, attrs...)
}
