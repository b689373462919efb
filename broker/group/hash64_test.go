package group

import "testing"

// TestHashIsXXH3 compares with what Kafka's hash library answers, at each border between the algorithm's cases.
func TestHashIsXXH3(t *testing.T) {
	for n, want := range map[int]uint64{
		0: 0x2d06800538d394c2, 1: 0x4c5cca45d0f4811f, 3: 0x15f7093b173d005c, 4: 0xdca012f95811b6b9, 8: 0xdec6a9a43575982e,
		9: 0xcbe393399f17ffbd, 16: 0x7e484c18d74895d0, 17: 0x208bde5ee2bed407, 32: 0x03df0ac5255d1446, 33: 0x199a362122d71f46,
		64: 0xdd30702ab46b3745, 65: 0xfab36b851b94ce20, 96: 0xd245cd2541582982, 97: 0x60e3e1d0d43785b3, 128: 0xf92b70eaa21a6288,
		129: 0xf8f76713f2bb60fa, 160: 0xc90911ffcef461e2, 200: 0x12fdb864685f344d, 240: 0xccc7375172c41f03, 241: 0x0b3b630948ce4a00,
		256: 0xec85b75bafe6ca74, 300: 0xbaad8e6a5f186ce6, 512: 0xefc2e52d1c2ffbaa, 1000: 0x989765d0ea7a5ecd, 1024: 0x23bc880ebf0d29c6,
		1025: 0xc09fdfbc398c7d82, 1088: 0xa16bad67843c5a45, 2000: 0x19eb4cda7a0f1a0d, 4096: 0xa3c19f8174cde0bb, 10000: 0x441f01d9711bebed,
	} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*31 + 7)
		}
		if got := hash64(b); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
	if got, want := hash64(appendHashed32(appendHashedString(nil, "aé€"), 7)), uint64(0xbb14008b9b22f7ec); got != want {
		t.Errorf("a string: %x, want %x", got, want)
	}
}
