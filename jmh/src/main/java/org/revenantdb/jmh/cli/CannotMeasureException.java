package org.revenantdb.jmh.cli;

/** A figure could not be measured; the message contains which one, and why. */
final class CannotMeasureException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String sentence;

  CannotMeasureException(String sentence) {
    super(sentence);
    this.sentence = sentence;
  }

  CannotMeasureException(String sentence, Throwable cause) {
    super(sentence, cause);
    this.sentence = sentence;
  }

  /** Returns the message. */
  String sentence() {
    return sentence;
  }
}
