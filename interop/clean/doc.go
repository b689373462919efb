// Package clean holds no code: its tests let Kafka's own cleaner and ours work on copies of the same random logs, at the same
// clock, and compare what is left: segments, batches, records, delete horizons, transaction indexes; and they write the same to a
// live topic of each. WEIR_CLEAN_CASES and WEIR_CLEAN_LIVE make a campaign of it, WEIR_CLEAN_SEED repeats one.
package clean
