package org.revenantdb.chaos.run;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** An exception that a subject threw in another JVM: its text, stack and causes. */
public final class RemoteFailure extends Exception {
  private static final long serialVersionUID = 1L;
  private static final int CAUSES = 8;

  /** The name of its class in the other JVM. */
  private final String type;

  /** Its text there. */
  private final String text;

  private RemoteFailure(String type, String text, @Nullable Throwable cause) {
    super(text, cause);
    this.type = type;
    this.text = text;
  }

  /** The name of its class in the other JVM; of any other exception the name of its class. */
  static String typeOf(Throwable failure) {
    return failure instanceof RemoteFailure remote ? remote.type : failure.getClass().getName();
  }

  /**
   * Writes an exception.
   *
   * @param failure the exception
   * @param target receives it
   * @throws IOException if it cannot be written
   */
  public static void write(Throwable failure, DataOutput target) throws IOException {
    write(failure, target, CAUSES);
  }

  private static void write(Throwable failure, DataOutput target, int causes) throws IOException {
    target.writeUTF(failure.getClass().getName());
    String text = failure.toString();
    target.writeUTF(text.length() > 10_000 ? text.substring(0, 10_000) : text);
    StackCodec.write(Arrays.asList(failure.getStackTrace()), target);
    Throwable cause = failure.getCause();
    boolean more = cause != null && causes > 0;
    target.writeBoolean(more);
    if (cause != null && more) {
      write(cause, target, causes - 1);
    }
  }

  /**
   * Reads an exception.
   *
   * @param source written by {@link #write}
   * @return the exception
   * @throws IOException if it cannot be read
   */
  public static RemoteFailure read(DataInput source) throws IOException {
    String type = source.readUTF();
    String text = source.readUTF();
    StackTraceElement[] frames = StackCodec.read(source);
    RemoteFailure failure =
        new RemoteFailure(type, text, source.readBoolean() ? read(source) : null);
    failure.setStackTrace(frames);
    return failure;
  }

  @Override
  @SuppressWarnings("OverrideThrowableToString") // it stands for an exception of another class
  public String toString() {
    return text;
  }
}
