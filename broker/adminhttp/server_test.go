package adminhttp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/weir-broker/weir/broker/adminhttp"
	"github.com/weir-broker/weir/broker/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadinessNamesTheCauseAndMetricsAreServed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "weir_example_total", Help: "An example."})
	registry.MustRegister(counter)
	reasons := []adminhttp.Reason{{Part: "logs", Cause: "recovering 3 of 10 partitions"}}
	server := adminhttp.New(adminhttp.Options{
		Listener: listener, Gatherer: registry, Logger: slog.New(slog.DiscardHandler),
		Ready: func() []adminhttp.Reason { return reasons },
		Cleaning: func(topic string) []partition.CleaningState {
			return []partition.CleaningState{{Topic: topic, Partition: 3, Offset: 7, DirtyBytes: 100, DirtyRatio: 0.5, Err: errors.New("CRC"), FailedAt: time.UnixMilli(0), Uncleanable: true}}
		},
	})
	server.Start()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path string) (int, string) {
		t.Helper()
		response, err := client.Get("http://" + server.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	if status, body := get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "recovering 3 of 10") {
		t.Errorf("/readyz while recovering: %d %s", status, body)
	}
	if status, _ := get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz while recovering: %d", status)
	}
	reasons = nil
	if status, body := get("/readyz"); status != http.StatusOK || !strings.Contains(body, "ready") {
		t.Errorf("/readyz when ready: %d %s", status, body)
	}
	if status, body := get("/metrics"); status != http.StatusOK || !strings.Contains(body, "weir_example_total 0") {
		t.Errorf("/metrics: %d %s", status, body)
	}
	want := `[{"topic":"users","partition":3,"cleaned_to":7,"dirty_bytes":100,"dirty_ratio":0.5,"failed_at":"1970-01-01T00:00:00Z","error":"CRC","uncleanable":true}]`
	if status, body := get("/v1/cleaning?topic=users"); status != http.StatusOK || strings.TrimSpace(body) != want {
		t.Errorf("/v1/cleaning: %d %s", status, body)
	}
	if err := server.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
}
