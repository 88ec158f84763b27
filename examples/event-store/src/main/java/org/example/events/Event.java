package org.example.events;

/** Something that has happened to an account. */
public record Event(String kind, long amount) {
  public Event {
    if (!kind.equals("paid in") && !kind.equals("paid out")) {
      throw new IllegalArgumentException("an event is \"paid in\" or \"paid out\", not " + kind);
    }
  }

  long change() {
    return kind.equals("paid in") ? amount : -amount;
  }
}
