package org.revenantdb.chaos.crash;

/** What a child does with its store, as reports name it. */
enum Phase {
  OPEN("open"),
  CHECK("check"),
  RESUME("resume"),
  WORK("work"),
  CLOSE("close"),
  CONTROL("the control (checks of the same files and of an empty directory)");

  private final String word;

  Phase(String word) {
    this.word = word;
  }

  @Override
  public String toString() {
    return word;
  }
}
