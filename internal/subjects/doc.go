// Package subjects finds those who wait for an event by what the event is about, as
// [queueing.EventHint] says, so that an event costs nothing for those who wait for others,
// however many they are.
package subjects
