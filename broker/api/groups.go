package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/network"
)

// offsetsTopic keeps groups and their offsets; each of its partitions has one coordinator.
const offsetsTopic = "__consumer_offsets"

const (
	joinGroupKey int16 = 11
	syncGroupKey int16 = 14
)

// Groups are the group coordinators on this broker, one per partition of __consumer_offsets led here.
type Groups interface {
	// Submit puts an operation to a coordinator. It does not wait.
	Submit(partition int32, op group.Operation) *group.Future
	// Partitions are those coordinated here, loading ones included.
	Partitions() []int32
}

// groupOperation is a method of group.Shard with its request.
type groupOperation func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects

// groupAnswer is what a coordinator said: a response, or the code of why there is none.
type groupAnswer struct {
	response kmsg.Response
	code     Code
}

// groupCall is the second phase of a request to coordinators. It outlives the frame.
type groupCall struct {
	request
	futures []*group.Future
	// read has for each operation of a large request a channel that is closed when the coordinator has read the request.
	read   []chan struct{}
	finish func(answers []groupAnswer) kmsg.Response
}

// newGroupCall starts a call without operations.
func (r *request) newGroupCall() *groupCall {
	c := &groupCall{request: *r}
	c.clientID = nil // it aliases the frame
	return c
}

// submit adds an operation for the coordinator of a partition.
func (c *groupCall) submit(partition int32, op groupOperation) {
	if c.large {
		read := make(chan struct{})
		inner, done := op, sync.OnceFunc(func() { close(read) })
		c.read = append(c.read, read)
		op = func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
			defer done()
			return inner(s, now, token)
		}
	}
	c.futures = append(c.futures, c.handler.groups.Submit(partition, group.Operation(op)))
}

// ask makes the call of one operation about one group; failed answers when no coordinator does.
func (r *request) ask(id string, op groupOperation, failed func(Code) kmsg.Response) (kmsg.Response, *groupCall) {
	c := r.newGroupCall()
	c.submit(r.groupPartition(id), op)
	c.finish = func(answers []groupAnswer) kmsg.Response {
		if answers[0].code != CodeNone {
			return failed(answers[0].code)
		}
		return answers[0].response
	}
	return nil, c
}

// Wait waits until the coordinators have answered. They bound the wait themselves: by the time a commit may take, or by the
// timeouts of a rebalance.
func (c *groupCall) Wait(ctx context.Context) (*network.Buffer, error) {
	answers := make([]groupAnswer, len(c.futures))
	for i, f := range c.futures {
		resp, err := f.Wait(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		answers[i] = groupAnswer{resp, groupCode(err)}
		if answers[i].code == CodeUnknownServerError {
			c.log(slog.LevelError, "group coordinator failed", slog.Any("error", err))
		}
	}
	return c.encode(c.finish(answers)), nil
}

// parked makes a handler of a function that asks coordinators, or answers at once with a response. Coordinators read a
// request after its frame is gone: what it holds is copied where kmsg does not.
func parked[Req kmsg.Request](serve func(*Handler, *request, Req) (kmsg.Response, *groupCall)) func(*Handler, *request, []byte) network.Reply {
	return func(h *Handler, r *request, body []byte) network.Reply {
		if len(body) > maxDecodedBytes {
			return network.Close(errBodyTooLarge)
		}
		r.large = len(body) > largeBodyBytes
		if r.large {
			h.decoding <- struct{}{}
			defer func() { <-h.decoding }()
		}
		if r.key == joinGroupKey || r.key == syncGroupKey {
			body = bytes.Clone(body) // strings are copied, byte fields are not
		}
		req, ok := kmsg.RequestForKey(r.key).(Req)
		if !ok {
			panic(fmt.Sprintf("BUG: api: key %d has the handler of another request", r.key))
		}
		req.SetVersion(r.version)
		if err := req.ReadFrom(body); err != nil {
			return network.Close(fmt.Errorf("%w: %w", errMalformed, err))
		}
		resp, call := serve(h, r, req)
		if call == nil {
			return network.Done(r.encode(resp))
		}
		call.awaitRead()
		return network.Pending(call)
	}
}

// awaitRead waits until the coordinators have read a large request, or will not, so that such do not pile up in queues.
func (c *groupCall) awaitRead() {
	for i, read := range c.read {
		select {
		case <-read:
		case <-c.futures[i].Done():
		case <-c.conn.Context().Done():
			return
		}
	}
}

// groupPartition is the partition of __consumer_offsets that keeps a group.
func (r *request) groupPartition(id string) int32 {
	count := r.handler.config.Load().OffsetsTopicPartitions
	if t := r.image.Topic(offsetsTopic); t != nil {
		count = t.PartitionCount()
	}
	return coordinator.Partition(id, count)
}

// byCoordinator sorts the positions of n groups by the partition that keeps each.
func (r *request) byCoordinator(n int, id func(i int) string) (partitions []int32, positions [][]int) {
	of := map[int32][]int{}
	for i := range n {
		p := r.groupPartition(id(i))
		of[p] = append(of[p], i)
	}
	partitions = slices.Sorted(maps.Keys(of))
	for _, p := range partitions {
		positions = append(positions, of[p])
	}
	return partitions, positions
}

// groupCode is the code of a coordinator's error as clients of groups know it: errors of the log beneath are turned into
// those that make them look for the coordinator again or wait for it.
func groupCode(err error) Code {
	switch code := codeOf(err); code {
	case CodeUnknownTopicOrPartition, CodeNotEnoughReplicas, CodeRequestTimedOut:
		return CodeCoordinatorNotAvailable
	case CodeNotLeaderOrFollower, CodeKafkaStorageError:
		return CodeNotCoordinator
	case CodeMessageTooLarge, CodeRecordListTooLarge, CodeInvalidFetchSize:
		return CodeUnknownServerError
	default:
		return code
	}
}

// client is who sent the request, as a group knows its members.
func (r *request) client() group.Client {
	return group.Client{ID: string(r.clientID), Host: javaHost(r.conn.RemoteAddr()), UUID: newUUID()}
}

// newUUID draws a random UUID (version 4) in text form.
func newUUID() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	text := hex.EncodeToString(id[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// javaHost is an address as Java writes one without a name, which is what tools show for a member.
func javaHost(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return "/" + a.String()
	}
	addr := tcp.AddrPort().Addr().Unmap()
	if !addr.Is6() {
		return "/" + addr.String()
	}
	return "/" + javaIPv6(addr)
}

func javaIPv6(addr netip.Addr) string {
	raw := addr.As16()
	parts := make([]string, 8)
	for i := range parts {
		parts[i] = strconv.FormatUint(uint64(binary.BigEndian.Uint16(raw[2*i:])), 16)
	}
	text := strings.Join(parts, ":")
	if addr.Zone() != "" {
		text += "%" + addr.Zone()
	}
	return text
}
