package quorum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/weir-broker/weir/broker/metadata"
)

// metadata.db, format 1: bucket "about" with "format" (1 byte) and "node" (4
// bytes); bucket "parts" with one key per part of the image: its kind (1 byte)
// and key, and as value crc32c(4 bytes big endian, of key and body) body.
const storeFormat = 1

const storeFix = "remove it: it is made anew from the snapshot and " + raftFile + " beside it"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// store is metadata.db. save is safe for concurrent use.
type store struct {
	path string
	db   *bbolt.DB
	mu   struct {
		sync.Mutex
		saved *metadata.Image
	}
}

func openStore(path string, node metadata.BrokerID) (*store, error) {
	s := &store{path: path}
	err := guard(func() (err error) {
		s.db, err = bbolt.Open(path, 0o640, &bbolt.Options{
			Timeout: openTimeout, FreelistType: bbolt.FreelistMapType,
		})
		return err
	})
	if err != nil {
		return nil, fileError(path, err, storeFix)
	}
	if err := s.checkAbout(node); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// checkAbout reads whose database this is, or writes it into a new one.
func (s *store) checkAbout(node metadata.BrokerID) error {
	var format, id []byte
	err := guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			if b := tx.Bucket([]byte("about")); b != nil {
				format = append(format, b.Get([]byte("format"))...)
				id = append(id, b.Get([]byte("node"))...)
			}
			return nil
		})
	})
	switch {
	case err != nil:
		return fileError(s.path, err, storeFix)
	case format == nil:
		return s.writeAbout(node)
	case len(format) != 1 || len(id) != 4:
		return fileError(s.path, metadata.ErrCorrupt, storeFix)
	case format[0] != storeFormat:
		return fmt.Errorf("%w: %s has format %d, this program knows %d; run the version that wrote it",
			ErrDirectory, s.path, format[0], storeFormat)
	case binary.BigEndian.Uint32(id) != uint32(node):
		return fmt.Errorf("%w: %s belongs to node %d, this is node %d; point it at its own directory",
			ErrDirectory, s.path, int32(binary.BigEndian.Uint32(id)), node)
	}
	return nil
}

func (s *store) writeAbout(node metadata.BrokerID) error {
	err := s.db.Update(func(tx *bbolt.Tx) error {
		about, err := tx.CreateBucketIfNotExists([]byte("about"))
		if err != nil {
			return err
		}
		if _, err := tx.CreateBucketIfNotExists([]byte("parts")); err != nil {
			return err
		}
		if err := about.Put([]byte("node"), binary.BigEndian.AppendUint32(nil, uint32(node))); err != nil {
			return err
		}
		return about.Put([]byte("format"), []byte{storeFormat})
	})
	if err != nil {
		return fmt.Errorf("%w: writing %s: %w", ErrDirectory, s.path, err)
	}
	return nil
}

// load reads the image, an empty one from a new database.
func (s *store) load() (*metadata.Image, error) {
	loader, found := metadata.NewLoader(), false
	err := guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("parts"))
			if b == nil {
				return fmt.Errorf("%w: no parts", metadata.ErrCorrupt)
			}
			return b.ForEach(func(k, v []byte) error {
				found = true
				if len(k) == 0 || len(v) < 4 || partSum(k, v[4:]) != binary.BigEndian.Uint32(v) {
					return fmt.Errorf("%w: checksum of part %x", metadata.ErrCorrupt, k)
				}
				return loader.Add(metadata.PartKind(k[0]), v[4:])
			})
		})
	})
	img := metadata.NewImage()
	if err == nil && found {
		img, err = loader.Image()
	}
	switch {
	case errors.Is(err, metadata.ErrUnknownFormat), errors.Is(err, metadata.ErrLevel):
		return nil, fmt.Errorf("%w: %s: %w; run the version that wrote it", ErrDirectory, s.path, err)
	case err != nil:
		return nil, fileError(s.path, err, storeFix)
	}
	s.mu.saved = img
	return img, nil
}

func partSum(key, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, body)
}

// save brings the database to an image, in one transaction. An image older than
// the saved one is left.
func (s *store) save(img *metadata.Image) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.saved != nil && img.Index <= s.mu.saved.Index {
		return nil
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("parts"))
		return metadata.Parts(s.mu.saved, img, func(p metadata.Part) error {
			key := append([]byte{byte(p.Kind)}, p.Key...)
			if p.Body == nil {
				return b.Delete(key)
			}
			value := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(p.Body)), partSum(key, p.Body))
			return b.Put(key, append(value, p.Body...))
		})
	})
	if err != nil {
		return fmt.Errorf("quorum: writing %s: %w", s.path, err)
	}
	s.mu.saved = img
	return nil
}

func (s *store) close() error { return s.db.Close() }

// guard turns a panic of bbolt over a damaged file into an error, an access
// beyond the end of its mapping included.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", metadata.ErrCorrupt, r)
		}
	}()
	return fn()
}
