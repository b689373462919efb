package policy

import "testing"

func known(epoch int16, batches ...ProducerBatch) ProducerFacts {
	f := ProducerFacts{Known: true, Epoch: epoch, Count: len(batches), TxnFirstOffset: NoOffset, BatchEpoch: epoch}
	copy(f.Batches[:], batches)
	return f
}

func TestStandardProducerFollowsKafkasOrderOfChecks(t *testing.T) {
	const maxSeq = 1<<31 - 1
	unknown := ProducerFacts{Epoch: NoProducerEpoch, TxnFirstOffset: NoOffset}
	five := known(2,
		ProducerBatch{FirstSequence: 0, LastSequence: 9, BaseOffset: 100, LastOffset: 109},
		ProducerBatch{FirstSequence: 10, LastSequence: 19, BaseOffset: 110, LastOffset: 119})
	open := five
	open.TxnFirstOffset = 100
	wrap := known(0, ProducerBatch{FirstSequence: maxSeq - 1, LastSequence: maxSeq})
	onlyMarker := known(3)
	onlyMarker.Epoch = 3

	type in struct {
		epoch       int16
		first, last int32
		txn         bool
		verified    bool
		origin      Origin
	}
	tests := []struct {
		name  string
		state ProducerFacts
		batch in
		want  ProducerOutcome
		index int
	}{
		{"unknown producer begins anywhere", unknown, in{epoch: 0, first: 77, last: 80}, ProducerAccept, 0},
		{"next in sequence", five, in{epoch: 2, first: 20, last: 20}, ProducerAccept, 0},
		{"oldest duplicate", five, in{epoch: 2, first: 0, last: 9}, ProducerDuplicate, 0},
		{"newest duplicate", five, in{epoch: 2, first: 10, last: 19}, ProducerDuplicate, 1},
		{"same first, other last is no duplicate", five, in{epoch: 2, first: 10, last: 18}, ProducerOutOfOrderSequence, 0},
		{"gap", five, in{epoch: 2, first: 21, last: 22}, ProducerOutOfOrderSequence, 0},
		{"older epoch", five, in{epoch: 1, first: 20, last: 20}, ProducerInvalidEpoch, 0},
		{"older epoch of a duplicate range", five, in{epoch: 1, first: 10, last: 19}, ProducerInvalidEpoch, 0},
		{"newer epoch begins at 0", five, in{epoch: 3, first: 0, last: 1}, ProducerAccept, 0},
		{"newer epoch elsewhere", five, in{epoch: 3, first: 20, last: 21}, ProducerOutOfOrderSequence, 0},
		{"wrap to 0", wrap, in{first: 0, last: 3}, ProducerAccept, 0},
		{"wrap must be 0", wrap, in{first: 1, last: 3}, ProducerOutOfOrderSequence, 0},
		{"known by a marker only begins at 0", onlyMarker, in{epoch: 3, first: 0, last: 3}, ProducerAccept, 0},
		{"known by a marker only, elsewhere", onlyMarker, in{epoch: 3, first: 5, last: 6}, ProducerOutOfOrderSequence, 0},
		{"unverified transaction", five, in{epoch: 2, first: 20, last: 20, txn: true}, ProducerInvalidTxnState, 0},
		{"verified transaction", five, in{epoch: 2, first: 20, last: 20, txn: true, verified: true}, ProducerAccept, 0},
		{"fenced before verification", five, in{epoch: 1, first: 20, last: 20, txn: true}, ProducerInvalidEpoch, 0},
		{"open transaction goes on", open, in{epoch: 2, first: 20, last: 20, txn: true}, ProducerAccept, 0},
		{"open transaction, new epoch needs verification", open, in{epoch: 3, first: 0, last: 0, txn: true}, ProducerInvalidTxnState, 0},
		{"plain batch inside a transaction", open, in{epoch: 2, first: 20, last: 20}, ProducerInvalidTxnState, 0},
		{"sequence is checked before that", open, in{epoch: 2, first: 40, last: 40}, ProducerOutOfOrderSequence, 0},
		{"a coordinator has no sequences", five, in{epoch: 2, first: 99, last: 99, origin: OriginCoordinator}, ProducerAccept, 0},
		{"a coordinator has no duplicates", five, in{epoch: 2, first: 0, last: 9, origin: OriginCoordinator}, ProducerAccept, 0},
		{"a coordinator has epochs", five, in{epoch: 1, first: 0, last: 9, origin: OriginCoordinator}, ProducerInvalidEpoch, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f := tc.state
			f.BatchEpoch, f.FirstSequence, f.LastSequence = tc.batch.epoch, tc.batch.first, tc.batch.last
			f.Transactional, f.Verified, f.Origin = tc.batch.txn, tc.batch.verified, tc.batch.origin
			got := StandardProducer().Check(&f)
			if got.Outcome != tc.want || got.Batch != tc.index {
				t.Errorf("got %+v, want outcome %d index %d", got, tc.want, tc.index)
			}
		})
	}
}

func TestStandardProducerHoldsTransactionsV2ToTheLowestSequence(t *testing.T) {
	f := ProducerFacts{Epoch: NoProducerEpoch, TxnFirstOffset: NoOffset, FirstSequence: 5, LastSequence: 6, Transactional: true, Verified: true}
	f.Verification = ProducerVerification{Present: true, EpochBump: true, LowestSequence: 5}
	if got := StandardProducer().Check(&f); got.Outcome != ProducerOutOfOrderSequence {
		t.Errorf("v2 without state beginning at 5: %+v", got)
	}
	f.Verification.EpochBump = false
	if got := StandardProducer().Check(&f); got.Outcome != ProducerAccept {
		t.Errorf("v1 at the lowest sequence: %+v", got)
	}
	f.Verification.LowestSequence = 4
	if got := StandardProducer().Check(&f); got.Outcome != ProducerOutOfOrderSequence {
		t.Errorf("above the lowest sequence: %+v", got)
	}
}

func TestStandardProducerDoesNotAllocate(t *testing.T) {
	p := StandardProducer()
	f := known(0, ProducerBatch{LastSequence: 3})
	f.FirstSequence, f.LastSequence = 4, 4
	if n := testing.AllocsPerRun(100, func() { p.Check(&f) }); n != 0 {
		t.Errorf("%v allocations per check", n)
	}
}
