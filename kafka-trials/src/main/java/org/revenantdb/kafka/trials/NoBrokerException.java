package org.revenantdb.kafka.trials;

/** No broker can be started here; the message contains what it printed. */
public final class NoBrokerException extends Exception {
  private static final long serialVersionUID = 1L;

  NoBrokerException(String message) {
    super("NO BROKER: " + message);
  }

  NoBrokerException(String message, Throwable cause) {
    super("NO BROKER: " + message, cause);
  }
}
