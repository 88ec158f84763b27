package org.revenantdb.chaos.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** An accidental exception of a store is not a refusal. */
class RefusalsTest {

  private static final class DamagedException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void deliberateException_isARefusal() {
    for (Throwable said :
        List.of(
            new IOException("the log is damaged"),
            new NoSuchFileException("log"),
            new DamagedException(),
            new UncheckedIOException(new IOException("x")),
            new ExecutionException(new DamagedException()),
            new IOException("damaged", new NullPointerException()))) {
      assertEquals(true, Refusals.isClear(said), said::toString);
    }
  }

  @Test
  void accidentalException_isNotARefusal_evenIfWrapped() {
    for (Throwable stumble :
        List.of(
            new NullPointerException(),
            new ArrayIndexOutOfBoundsException(3),
            new ClassCastException(),
            new IllegalStateException(),
            new IllegalArgumentException(),
            new NumberFormatException(),
            new BufferUnderflowException(),
            new NegativeArraySizeException(),
            new InterruptedException(),
            new OutOfMemoryError(),
            new AssertionError("x", new IOException()),
            new CompletionException(new NullPointerException()),
            new ExecutionException(new ExecutionException(new ClassCastException())))) {
      assertEquals(false, Refusals.isClear(stumble), stumble::toString);
    }
  }
}
