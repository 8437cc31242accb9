package toolpost_test

import (
	"context"
	jsonv1 "encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/toolpost/toolpost"
)

// An order has 12 fields and 5 nested objects, like the arguments of a large tool.
type order struct {
	ID       int64     `json:"id" min:"1"`
	Title    string    `json:"title" minlen:"1" maxlen:"200"`
	State    string    `json:"state" enum:"open,paid,sent,closed"`
	Priority int       `json:"priority,omitempty" min:"1" max:"5"`
	Notify   bool      `json:"notify,omitempty"`
	Tags     []string  `json:"tags,omitempty"`
	Weight   float64   `json:"weight,omitempty"`
	Due      time.Time `json:"due,omitzero"`
	Notes    string    `json:"notes,omitempty"`
	Ship     address   `json:"ship"`
	Bill     *address  `json:"bill,omitempty"`
	Items    []item    `json:"items"`
}

type address struct {
	Name   string `json:"name"`
	Street string `json:"street"`
	City   string `json:"city"`
	Zip    string `json:"zip"`
}

type item struct {
	SKU      string  `json:"sku"`
	Quantity int     `json:"quantity" min:"1"`
	Price    float64 `json:"price"`
}

const orderJSON = `{"id":9007199254740993,"title":"Spare parts for the lathe in hall two","state":"open","priority":3,"notify":true,` +
	`"tags":["lathe","spare","urgent","hall-2"],"weight":12.75,"due":"2026-12-01T08:00:00Z",` +
	`"notes":"Deliver to the back door. Ring twice. The night shift signs for it if nobody else is in. Do not leave the boxes in the rain: the bearings rust within hours, and the last set had to be sent back to the maker. The invoice goes to accounts, not to the works; quote the order number on every page of it, and send one copy by post. Return the old spindle with the same driver, in the crate it came in, with the papers inside the lid.",` +
	`"ship":{"name":"Works No. 4","street":"Industriestrasse 17","city":"Winterthur","zip":"8400"},` +
	`"bill":{"name":"Toolpost AG, Accounts","street":"Bahnhofplatz 1","city":"Winterthur","zip":"8401"},` +
	`"items":[{"sku":"BRG-6204-2RS","quantity":8,"price":4.95},{"sku":"BLT-A-1250","quantity":2,"price":11.5},{"sku":"TPT-QC-40","quantity":1,"price":189}]}`

type receipt struct {
	ID    int64   `json:"id"`
	Total float64 `json:"total"`
}

func place(_ context.Context, o order) (receipt, error) {
	r := receipt{ID: o.ID}
	for _, i := range o.Items {
		r.Total += float64(i.Quantity) * i.Price
	}
	return r, nil
}

// BenchmarkTypedCall compares a whole call (find, validate, scope, decode, run,
// encode) with its floor: decode, run and encode without a tool, by the same
// codec ("floor") and by encoding/json ("floor-v1").
func BenchmarkTypedCall(b *testing.B) {
	raw := []byte(orderJSON)
	b.Run("floor", func(b *testing.B) {
		benchmarkFloor(b, raw,
			func(data []byte, v any) error { return json.Unmarshal(data, v) },
			func(v any) ([]byte, error) { return json.Marshal(v) })
	})
	b.Run("floor-v1", func(b *testing.B) { benchmarkFloor(b, raw, jsonv1.Unmarshal, jsonv1.Marshal) })
	b.Run("call", func(b *testing.B) {
		s := newSet(b, toolpost.Tools{toolpost.New("place", "Place an order.", place, nil)})
		c := &toolpost.Call{Name: "place", Arguments: raw}
		b.ReportAllocs()
		for b.Loop() {
			if r, err := s.Call(b.Context(), c); err != nil || r.IsError() {
				b.Fatal(text(r), err)
			}
		}
	})
}

func benchmarkFloor(b *testing.B, raw []byte, decode func([]byte, any) error, encode func(any) ([]byte, error)) {
	b.ReportAllocs()
	for b.Loop() {
		var o order
		if err := decode(raw, &o); err != nil {
			b.Fatal(err)
		}
		r, err := place(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := encode(r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSetCall shows that a call does not depend on the number of tools.
func BenchmarkSetCall(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			tools := make(toolpost.Tools, n)
			for i := range tools {
				tools[i] = toolpost.New(fmt.Sprintf("add%d", i), "Add two numbers.", add, nil)
			}
			s := newSet(b, tools)
			c := &toolpost.Call{Name: fmt.Sprintf("add%d", n-1), Arguments: []byte(`{"a":1,"b":2}`)}
			b.ReportAllocs()
			for b.Loop() {
				if r, err := s.Call(b.Context(), c); err != nil || r.IsError() {
					b.Fatal(text(r), err)
				}
			}
		})
	}
}

func TestTypedCallAllocations(t *testing.T) {
	s := newSet(t, toolpost.Tools{toolpost.New("place", "Place an order.", place, nil)})
	c := &toolpost.Call{Name: "place", Arguments: []byte(orderJSON)}
	got := testing.AllocsPerRun(100, func() {
		if r, err := s.Call(t.Context(), c); err != nil || r.IsError() {
			t.Fatal(text(r), err)
		}
	})
	if got > 40 {
		t.Errorf("%v allocations, want at most 40", got)
	}
}
