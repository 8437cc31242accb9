package sessions_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/claude/sessions"
)

// Print the latest session of a folder. Without a Store it is one of the user's.
func Example() {
	ctx := context.Background()
	store := &sessions.Disk{ConfigDir: "testdata"}
	for s, err := range sessions.List(ctx, &sessions.Options{Dir: "/tmp/project", Store: store}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.SessionID, s.Title)
		for m, err := range s.Messages(ctx) {
			if err != nil {
				log.Fatal(err)
			}
			if answer, ok := m.(*message.Assistant); ok && answer.Text() != "" {
				fmt.Println(answer.Text())
			}
		}
		break
	}
	// Output:
	// 7e7abb58-2e42-4bbf-aa1c-896318c40e4a Ask an agent
	// 5 and 9
	// The agent says 5.
}
