package org.revenantdb.chaos.crash;

/** What a child does with its store, in the words of a report. */
enum Phase {
  OPEN("open"),
  CHECK("check"),
  RESUME("resume"),
  WORK("work"),
  CLOSE("close"),
  CONTROL("the control (looks at the same and at an empty directory)");

  private final String word;

  Phase(String word) {
    this.word = word;
  }

  @Override
  public String toString() {
    return word;
  }
}
