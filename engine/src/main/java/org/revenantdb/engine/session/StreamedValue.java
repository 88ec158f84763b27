package org.revenantdb.engine.session;

import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.overflow.OverflowWriter;

/**
 * Writes a value that comes from a stream to overflow pages, piece by piece.
 *
 * <p>Its length is not known before it has ended. So unneeded pages are written if the value turns
 * out to be too long, or the stream throws, or the disk is full. When the caller receives the
 * exception, these pages are free and the file is as short as before.
 */
public final class StreamedValue {
  /** A class of streams of the JDK that know their remaining length. */
  private static final String CHANNEL_STREAM = "sun.nio.ch.ChannelInputStream";

  private StreamedValue() {}

  /** Runs steps in the transaction. */
  public interface Steps {
    /**
     * Runs a step inside the gate. Its exception is translated for the caller ({@link Boundary}).
     */
    <T extends @Nullable Object> T run(Supplier<T> step);
  }

  /** Refuses a stream whose length is known, and above the limit, before anything is read. */
  public static void demandShort(Engine engine, InputStream value) throws IOException {
    boolean knows =
        value.getClass() == FileInputStream.class
            || value.getClass() == ByteArrayInputStream.class
            || value.getClass().getName().equals(CHANNEL_STREAM);
    if (knows) {
      checkLength(engine.maxValueBytes, value.available());
    }
  }

  /**
   * Writes a value.
   *
   * @param chunk its first {@link OverflowWriter#CHUNK} bytes; also used as buffer for the others
   * @param rest the source of the other bytes
   * @param begin begins the value, in a step
   * @return the writer of the value, which is in no row yet
   */
  public static OverflowWriter write(
      Engine engine, byte[] chunk, InputStream rest, Supplier<OverflowWriter> begin, Steps steps)
      throws IOException {
    int pagesBefore = filePages(engine);
    OverflowWriter written = steps.run(begin);
    try {
      for (int count = chunk.length; count > 0; count = rest.readNBytes(chunk, 0, chunk.length)) {
        checkLength(engine.maxValueBytes, written.length() + count);
        int bytes = count;
        steps.run(() -> {
          written.append(chunk, 0, bytes);
          return null;
        });
      }
      return written;
    } catch (Throwable refusal) {
      giveUp(engine, written, steps);
      giveBack(engine, pagesBefore, refusal);
      throw refusal;
    }
  }

  private static int filePages(Engine engine) {
    try {
      return engine.filePages();
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  private static void giveBack(Engine engine, int pagesBefore, Throwable refusal) {
    try {
      engine.giveBackRefused(pagesBefore, refusal);
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  private static void giveUp(Engine engine, OverflowWriter written, Steps steps) {
    try {
      steps.run(() -> {
        written.giveUp();
        return null;
      });
    } catch (RuntimeException ended) {
      // The transaction has ended, so the cleaner frees the value because of the outcome.
      pokeCleaner(engine);
    }
  }

  private static void pokeCleaner(Engine engine) {
    try {
      engine.pokeCleaner();
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /** Refuses a value that is too long. */
  public static void checkLength(long most, long length) {
    if (length > most) {
      throw new LimitException(
          LimitException.Reason.VALUE_LENGTH,
          "a value may have " + most + " bytes; this one has " + length + " or more");
    }
  }
}
