package org.revenantdb.chaos.run;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import org.revenantdb.chaos.crash.PassedProperties;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.ImageCodec;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.CrashSubject;

/**
 * A JVM that opens and checks images, one after the other, as its parent orders by lines. It tells
 * each step before it begins. It ends when its standard input does, so it does not outlive its
 * parent.
 */
public final class WorkerMain {

  /** A property that stops a debugger before the store is opened. */
  public static final String STOP = "revenant.chaos.stop";

  /** The class of an exception at which a debugger stops. */
  public static final String BEFORE_OPEN = BeforeOpen.class.getName();

  /** Images are directories. */
  static final String ON_DISK = "disk";

  /** Images are files that {@link ImageCodec} wrote. */
  static final String IN_MEMORY = "memory";

  /** The beginning of a line that tells a step. */
  static final String PHASE = "phase\t";

  /** What it says last if the files of its parent cannot be read, which no store has caused. */
  static final String BROKEN = "broken";

  /** A check whose file operations are recorded. */
  static final String RECORDED = "recorded";

  private static final int FAILED = 3;
  private static final int WITHOUT_PARENT = 4;

  private final OutputStream out;
  private final boolean inMemory;
  private final StateChecker<Object> working;
  private final StateChecker<Object> looking;
  private String file = "";
  private PromiseLog log = new PromiseLog();
  private volatile String phase = "the start";

  private WorkerMain(Supplier<CrashSubject<Object>> subjects, boolean inMemory, OutputStream out) {
    this.out = out;
    this.inMemory = inMemory;
    this.working = new StateChecker<>(subjects, /* resume= */ true, this::begin);
    this.looking = new StateChecker<>(subjects, /* resume= */ false, this::begin);
  }

  /** Thrown and caught: the debugger is asked to stop when it sees one. */
  static final class BeforeOpen extends Exception {
    private static final long serialVersionUID = 1L;
  }

  /** Behind this call the store is opened. */
  private static void stopBeforeOpen() {
    try {
      throw new BeforeOpen();
    } catch (BeforeOpen seen) {
      // The debugger has stopped here, and the user goes on.
    }
  }

  /**
   * Works until the parent ends.
   *
   * @param arguments the subject's class, and where images are opened
   */
  public static void main(String[] arguments) {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err);
    LinkedBlockingQueue<String> orders = new LinkedBlockingQueue<>();
    Thread.ofPlatform().daemon().name("orders").start(() -> listen(orders));
    WorkerMain worker = null;
    try {
      PassedProperties.adopt();
      Supplier<CrashSubject<Object>> subjects = Subjects.of(Class.forName(arguments[0]));
      worker = new WorkerMain(subjects, arguments[1].equals(IN_MEMORY), out);
      worker.work(orders);
    } catch (IOException e) { // those of the store are results
      e.printStackTrace();
      if (worker != null) {
        worker.say(BROKEN);
      }
      Runtime.getRuntime().halt(FAILED);
    } catch (Throwable e) { // threads of the store must not keep this JVM alive
      e.printStackTrace();
      Runtime.getRuntime().halt(FAILED);
    }
  }

  private void work(LinkedBlockingQueue<String> orders) throws Exception {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> System.err.println(ExitGuard.how(phase)), "exit"));
    say("ready");
    while (true) {
      String[] order = orders.take().split("\t", 4); // place, how, promises, image
      if (!order[2].equals(file)) {
        file = order[2];
        log = read(Path.of(file));
      }
      if (Boolean.getBoolean(STOP)) {
        stopBeforeOpen();
      }
      StateChecker<Object> checker = order[1].equals("look") ? looking : working;
      Path image = Path.of(order[3]);
      long seq = Long.parseLong(order[0]);
      StateResult result =
          inMemory
              ? inMemory(checker, image, seq, order[1])
              : checker.checkIn(image, log, seq, order[1].equals("whole"));
      say(ResultCodec.encode(result));
    }
  }

  private StateResult inMemory(StateChecker<Object> checker, Path file, long seq, String how)
      throws IOException {
    DiskImage image;
    try (DataInputStream in = input(file)) {
      image = ImageCodec.read(in);
    }
    if (how.equals("whole")) {
      return checker.check(image, log, seq);
    }
    if (!how.equals(RECORDED)) {
      return checker.glance(image, log, seq);
    }
    StateChecker.Recorded recorded = checker.checkRecorded(image, log, seq);
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(recording(file))))) {
      RecordingCodec.write(recorded.recording(), out);
    }
    return recorded.result();
  }

  private void begin(String what) {
    phase = what;
    say(PHASE + what);
  }

  /** One write each: what was said survives this JVM. */
  private void say(String line) {
    try {
      out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      Runtime.getRuntime().halt(WITHOUT_PARENT);
    }
  }

  /** Where the recording of a recovery goes. */
  static Path recording(Path image) {
    return image.resolveSibling(image.getFileName() + ".recording");
  }

  private static DataInputStream input(Path file) throws IOException {
    return new DataInputStream(new BufferedInputStream(Files.newInputStream(file)));
  }

  private static PromiseLog read(Path file) throws IOException {
    try (DataInputStream in = input(file)) {
      return PromiseLog.readFrom(in);
    }
  }

  private static void listen(LinkedBlockingQueue<String> orders) {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line; (line = in.readLine()) != null; ) {
        orders.add(line);
      }
    } catch (IOException e) {
      // The same as the end of the parent.
    }
    Runtime.getRuntime().halt(WITHOUT_PARENT);
  }
}
