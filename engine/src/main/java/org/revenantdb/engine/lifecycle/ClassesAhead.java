package org.revenantdb.engine.lifecycle;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.FileThread;

/**
 * Loads classes on a second thread while a fresh JVM opens its first database. A third of the time
 * of such an open is the loading of classes.
 *
 * <p>Threads: {@link #begin} may be called by any. An object belongs to the thread that opens.
 */
public final class ClassesAhead {
  /*
   * The list     a resource with the names of the classes that are loaded up to the first row, in the order in which
   *              they are needed. ClassesAheadTest compares it with an open, and writes a new one.
   * Linked only  no class is initialized here. Two threads that initialize classes in different orders can wait for each
   *              other for ever. And if an initialization fails, for instance without memory, the class is unusable for
   *              good. Loading and linking can be repeated.
   * The JDK      its first uses come before the classes: they take longest. They are calls that any thread may make.
   * The end      the open stops the thread and waits for it: no work of ours is left when no database is open. So the
   *              open waits for one class, or if it ends very early for the first uses of the JDK.
   * A failure    ends the work, for instance if an application has renamed the classes. The open then loads its classes
   *              itself, as every later open does.
   */
  private static final String LIST = "first-row-classes.txt";
  private static final AtomicBoolean BEGUN = new AtomicBoolean();

  private volatile boolean isStopped;

  /** Null if there is no such work. */
  private @Nullable FileThread thread;

  private ClassesAhead() {}

  /** No open of this class loader loads classes on a second thread: a test counts them. */
  static void forgo() {
    BEGUN.set(true);
  }

  /**
   * Begins the work, if this is the first open of the class loader that has the engine.
   *
   * @return what to end when the database is open, or the open has failed
   */
  public static ClassesAhead begin() {
    ClassesAhead begun = new ClassesAhead();
    if (BEGUN.compareAndSet(false, true)) {
      begun.start();
    }
    return begun;
  }

  private void start() {
    FileThread made = FileThread.of("revenant-classes", this::load, ClassesAhead::ignore);
    try {
      made.start();
      thread = made;
    } catch (OutOfMemoryError noThread) {
      // The thread that opens loads its classes itself.
    }
  }

  private static void ignore(Throwable failure) {
    // The thread that opens comes to the same class, and reports what is wrong with it.
  }

  private void load() {
    useJdk();
    ClassLoader loader = ClassesAhead.class.getClassLoader();
    try (InputStream stream = ClassesAhead.class.getResourceAsStream(LIST)) {
      if (stream == null) {
        return;
      }
      BufferedReader names =
          new BufferedReader(new InputStreamReader(stream, StandardCharsets.US_ASCII));
      for (String name = names.readLine(); name != null && !isStopped; name = names.readLine()) {
        link(Class.forName(name, /* initialize= */ false, loader));
      }
    } catch (IOException | ClassNotFoundException | LinkageError otherwise) {
      ignore(otherwise);
    }
  }

  /**
   * The first use of each of these takes the JDK some milliseconds. An open needs them all. No
   * class of ours is initialized.
   */
  private static void useJdk() {
    ByteOrder order = ByteOrder.LITTLE_ENDIAN;
    ValueLayout.OfInt u32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
    ValueLayout.OfLong u64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
    byte[] bytes = new byte[Long.BYTES];
    MemorySegment page = MemorySegment.ofArray(bytes);
    page.set(u32, 0, page.get(u32, 0));
    page.set(u64, 0, page.get(u64, 0));
    page.set(ValueLayout.JAVA_BYTE, 0, page.get(ValueLayout.JAVA_BYTE, 0));
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, 0, bytes, 0, 1);
    new CRC32C().update(0);
  }

  /**
   * The verification of the byte code is a part of it. The JVM links a class that is asked for its
   * members.
   */
  @SuppressWarnings("ReturnValueIgnored") // it is there for the linking
  private static void link(Class<?> loaded) {
    loaded.getDeclaredConstructors();
  }

  /** Ends the work, and waits for its end. Does not throw anything. */
  public void end() {
    FileThread working = thread;
    if (working == null) {
      return;
    }
    isStopped = true;
    try {
      working.join();
    } catch (OutOfMemoryError cannotWait) {
      // It ends by itself, after one more class.
    }
  }
}
