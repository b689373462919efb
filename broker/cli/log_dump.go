package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/producerstate"
	"github.com/weir-broker/weir/broker/vfs"
)

func newLogCommand(g *globals) *cobra.Command {
	cmd := commandGroup("log", "Look at the files of a log", "  weir log dump weir-data/hello-0 --verify", newLogDumpCommand(g))
	cmd.Annotations = map[string]string{withoutFlags: "bootstrap"}
	return cmd
}

func newLogDumpCommand(g *globals) *cobra.Command {
	d := dumper{g: g, fs: vfs.OS()}
	cmd := &cobra.Command{
		Use:   "dump FILE...",
		Short: "Print segments, indexes, snapshots and checkpoints",
		Long: `Print what is in the files of a partition, written by weir or by Kafka: .log, .index, .timeindex, .txnindex,
.snapshot, leader-epoch-checkpoint and partition.metadata. A directory stands for all of these in it.

With --verify each segment is compared with its indexes, and checksums and records are checked; only problems are
printed. The files of a running broker change while they are read: its newest segment may show problems that are none.`,
		Example: `  weir log dump weir-data/hello-0/00000000000000000000.log --records
  weir log dump weir-data/hello-0 --verify
  weir log dump weir-data/hello-0/00000000000000000000.index -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("name at least one file or directory of a partition")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return d.run(args) },
	}
	cmd.Flags().BoolVar(&d.records, "records", false, "print the records of each batch too")
	cmd.Flags().BoolVar(&d.verify, "verify", false, "check files instead of printing them")
	return cmd
}

// dumper prints files, one line per entry: "name: value" pairs under Kafka's names, or a JSON object.
type dumper struct {
	g        *globals
	fs       vfs.FS
	records  bool
	verify   bool
	problems int
	verified map[string]bool // segments, so that naming all files of one checks it once
}

// field is one "name: value" pair. A nil value is null.
type field struct {
	name  string
	value any
}

func (d *dumper) run(args []string) error {
	d.verified = map[string]bool{}
	names, err := d.expand(args)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.file(name); err != nil {
			d.problem(name, err)
		}
	}
	switch {
	case d.problems == 1:
		return errors.New("1 problem found")
	case d.problems > 1:
		return fmt.Errorf("%d problems found", d.problems)
	}
	if d.verify && d.g.output == outputTable {
		_, err := fmt.Fprintf(d.g.stdout, "%d files verified, no problem found\n", len(names))
		return err
	}
	return nil
}

// expand replaces directories by the files in them that can be dumped. Any other file has to be one.
func (d *dumper) expand(args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		st, err := d.fs.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			if !dumpable(arg) {
				return nil, usageError{fmt.Errorf("%s: not a file of a log: want .log, .index, .timeindex, .txnindex or .snapshot "+
					"with 20 digits before it, leader-epoch-checkpoint or partition.metadata", arg)}
			}
			names = append(names, arg)
			continue
		}
		inside, err := d.fs.List(arg)
		if err != nil {
			return nil, err
		}
		found := false
		for _, name := range inside {
			if dumpable(name) {
				names, found = append(names, filepath.Join(arg, name)), true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: no files of a log in this directory: name the folder of a partition, such as hello-0", arg)
		}
	}
	return names, nil
}

func dumpable(name string) bool {
	kind, _ := commitlog.KindOfFile(name)
	_, snapshot := producerstate.ParseFileName(filepath.Base(name))
	return snapshot || kind != commitlog.FileUnknown
}

func (d *dumper) problem(file string, err error) {
	d.problems++
	var path *fs.PathError
	if errors.As(err, &path) && path.Path == file {
		err = path.Err // the name is printed already
	}
	fmt.Fprintf(d.g.stderr, "%s: %v\n", file, err)
}

func (d *dumper) file(name string) error {
	kind, base := commitlog.KindOfFile(name)
	inUse := !strings.HasSuffix(name, ".deleted") && !strings.HasSuffix(name, ".cleaned") && !strings.HasSuffix(name, ".swap")
	if d.verify && inUse {
		switch kind {
		case commitlog.FileLog, commitlog.FileOffsetIndex, commitlog.FileTimeIndex:
			return d.verifySegment(filepath.Dir(name), base)
		}
	}
	if !d.verify && d.g.output == outputTable {
		fmt.Fprintf(d.g.stdout, "%s\n", name)
	}
	switch kind {
	case commitlog.FileLog:
		return d.log(name)
	case commitlog.FileOffsetIndex:
		entries, err := commitlog.ReadOffsetIndex(d.fs, name)
		return each(d, name, entries, err, func(e commitlog.IndexEntry) []field {
			return []field{{"offset", e.Offset}, {"position", e.Position}}
		})
	case commitlog.FileTimeIndex:
		entries, err := commitlog.ReadTimeIndex(d.fs, name)
		return each(d, name, entries, err, func(e commitlog.TimeIndexEntry) []field {
			return []field{{"timestamp", e.Timestamp}, {"offset", e.Offset}}
		})
	case commitlog.FileTxnIndex:
		entries, err := commitlog.ReadTxnIndex(d.fs, name)
		return each(d, name, entries, err, func(e commitlog.AbortedTxn) []field {
			return []field{
				{"producerId", e.ProducerID},
				{"firstOffset", e.FirstOffset},
				{"lastOffset", e.LastOffset},
				{"lastStableOffset", e.LastStableOffset},
			}
		})
	case commitlog.FileEpochs:
		entries, err := commitlog.ReadEpochs(d.fs, name)
		return each(d, name, entries, err, func(e commitlog.EpochEntry) []field {
			return []field{{"epoch", e.Epoch}, {"startOffset", e.StartOffset}}
		})
	case commitlog.FileTopicID:
		id, _, err := commitlog.ReadTopicID(d.fs, filepath.Dir(name))
		if err != nil {
			return err
		}
		return d.print(name, []field{{"version", 0}, {"topicId", base64.RawURLEncoding.EncodeToString(id[:])}})
	}
	return d.snapshot(name)
}

func each[E any](d *dumper, name string, entries []E, err error, fields func(E) []field) error {
	for _, e := range entries {
		if err := d.print(name, fields(e)); err != nil {
			return err
		}
	}
	return err
}

func (d *dumper) verifySegment(dir string, base batch.Offset) error {
	key := filepath.Join(dir, strconv.FormatInt(int64(base), 10))
	if d.verified[key] {
		return nil
	}
	d.verified[key] = true
	return commitlog.VerifySegment(d.fs, dir, base, func(file string, problem error) {
		d.problem(filepath.Join(dir, file), problem)
	})
}

// maxSnapshotFile bounds what is read of a snapshot: 20 million producers.
const maxSnapshotFile = 1 << 30

func (d *dumper) snapshot(name string) error {
	raw, err := vfs.ReadFile(d.fs, name, maxSnapshotFile)
	if err != nil {
		return err
	}
	entries, err := producerstate.DecodeSnapshot(raw)
	return each(d, name, entries, err, func(e producerstate.SnapshotEntry) []field {
		return []field{
			{"producerId", e.ProducerID},
			{"producerEpoch", e.ProducerEpoch},
			{"coordinatorEpoch", e.CoordinatorEpoch},
			{"currentTxnFirstOffset", e.TxnFirstOffset},
			{"lastTimestamp", e.Timestamp},
			{"lastSequence", e.LastSequence},
			{"lastOffset", e.LastOffset},
			{"offsetDelta", e.OffsetDelta},
		}
	})
}

func (d *dumper) log(name string) error {
	_, err := commitlog.WalkFile(d.fs, name, func(pos int64, h batch.Header, raw []byte) error {
		valid := batch.VerifyCRC(raw)
		if !valid {
			d.problem(name, fmt.Errorf("CRC of the batch at position %d, offsets %d to %d, does not match", pos, h.BaseOffset, h.LastOffset()))
		}
		if err := d.print(name, batchFields(pos, &h, valid)); err != nil {
			return err
		}
		if !d.records || !valid {
			return nil
		}
		return d.batchRecords(name, pos, raw)
	})
	return err
}

func batchFields(pos int64, h *batch.Header, valid bool) []field {
	timestampType := "CreateTime"
	if h.LogAppendTime() {
		timestampType = "LogAppendTime"
	}
	fields := []field{
		{"baseOffset", h.BaseOffset},
		{"lastOffset", h.LastOffset()},
		{"count", h.RecordCount},
		{"baseSequence", h.BaseSequence},
		{"lastSequence", h.LastSequence()},
		{"producerId", h.ProducerID},
		{"producerEpoch", h.ProducerEpoch},
		{"partitionLeaderEpoch", h.LeaderEpoch},
		{"isTransactional", h.IsTransactional()},
		{"isControl", h.IsControl()},
		{"position", pos},
		{timestampType, h.MaxTimestamp},
		{"size", h.Size()},
		{"magic", h.Magic},
		{"compresscodec", h.Codec().String()},
		{"crc", h.CRC},
		{"isvalid", valid},
	}
	if ms, ok := h.DeleteHorizon(); ok {
		fields = append(fields, field{"deleteHorizonMs", ms})
	}
	return fields
}

func (d *dumper) batchRecords(name string, pos int64, raw []byte) error {
	it, err := batch.Records(raw, batch.Limits{})
	if err != nil {
		d.problem(name, fmt.Errorf("batch at position %d: %w", pos, err))
		return nil
	}
	defer it.Close()
	control := it.Header().IsControl()
	for it.Next() {
		r := it.Record()
		fields := []field{{"offset", it.Offset()}, {"timestamp", it.Timestamp()}}
		if control {
			m, err := batch.ParseControl(raw)
			if err != nil {
				d.problem(name, fmt.Errorf("batch at position %d: %w", pos, err))
				return nil
			}
			fields = append(fields, field{"endTxnMarker", controlName(m.Type)}, field{"coordinatorEpoch", m.CoordinatorEpoch})
		} else {
			keyAndValue := []field{bytesField("key", r.Key), bytesField("value", r.Value)}
			if keepsGroups(name) {
				if keyAndValue, err = groupFields(r.Key, r.Value); err != nil {
					d.problem(name, fmt.Errorf("record at offset %d: %w", it.Offset(), err))
				}
			}
			fields = append(fields, keyAndValue...)
			for key, value := range r.Headers() {
				fields = append(fields, field{"header", []field{bytesField("key", key), bytesField("value", value)}})
			}
		}
		if err := d.print(name, append([]field{{"record", nil}}, fields...)); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		d.problem(name, fmt.Errorf("batch at position %d: %w", pos, err))
	}
	return nil
}

func controlName(t batch.ControlType) string {
	switch t {
	case batch.ControlAbort:
		return "ABORT"
	case batch.ControlCommit:
		return "COMMIT"
	}
	return "type " + strconv.Itoa(int(t))
}

// bytesField is a field that is null for nil, text where it is text, and base64 under another name where it is not.
func bytesField(name string, b []byte) field {
	switch {
	case b == nil:
		return field{name, nil}
	case utf8.Valid(b):
		return field{name, string(b)}
	}
	return field{name + "Base64", base64.StdEncoding.EncodeToString(b)}
}

// print writes one entry. The marker field "record" begins the line of a record below its batch.
func (d *dumper) print(file string, fields []field) error {
	if d.verify {
		return nil
	}
	if d.g.output == outputJSON {
		return d.printJSON(file, fields)
	}
	var line strings.Builder
	line.WriteString("  ")
	for i, f := range fields {
		if f.name == "record" {
			line.WriteString("| ")
			continue
		}
		if i > 0 && fields[i-1].name != "record" {
			line.WriteByte(' ')
		}
		line.WriteString(f.name)
		line.WriteString(": ")
		writeText(&line, f.value)
	}
	line.WriteByte('\n')
	_, err := d.g.stdout.Write([]byte(line.String()))
	return err
}

func writeText(line *strings.Builder, value any) {
	switch v := value.(type) {
	case nil:
		line.WriteString("null")
	case string:
		if v == "" || v == "null" || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' || r == ' ' }) {
			v = strconv.Quote(v)
		}
		line.WriteString(v)
	case []field:
		for i, f := range v {
			if i > 0 {
				line.WriteByte('=')
			}
			writeText(line, f.value)
		}
	default:
		fmt.Fprint(line, v)
	}
}

// printJSON writes one JSON object in a line. It names the file, since the lines of several files follow one another.
func (d *dumper) printJSON(file string, fields []field) error {
	out := []field{{"file", file}}
	var headers []json.RawMessage
	for _, f := range fields {
		switch v := f.value.(type) {
		case []field:
			raw, err := jsonObject(v)
			if err != nil {
				return err
			}
			headers = append(headers, raw)
		default:
			if f.name != "record" {
				out = append(out, f)
			}
		}
	}
	if headers != nil {
		out = append(out, field{"headers", headers})
	}
	raw, err := jsonObject(out)
	if err != nil {
		return err
	}
	_, err = d.g.stdout.Write(append(raw, '\n'))
	return err
}

// jsonObject keeps the order of the fields, which a map would not.
func jsonObject(fields []field) (json.RawMessage, error) {
	out := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}
