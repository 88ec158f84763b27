package org.revenantdb.chaos.hooks;

import java.io.BufferedReader;
import java.io.DataInputStream;
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
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.Subjects;
import org.revenantdb.chaos.subject.CrashSubject;

/**
 * A JVM that opens and checks directories, one after the other, as its parent orders by lines. It
 * ends when its standard input does, so it does not outlive its parent.
 */
public final class WorkerMain {

  /** A property that stops a debugger before the store is opened. */
  static final String STOP = "revenant.chaos.stop";

  private WorkerMain() {}

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
   * @param arguments the subject's class
   * @throws Exception if the parent's files cannot be read
   */
  public static void main(String[] arguments) throws Exception {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err);
    LinkedBlockingQueue<String> orders = new LinkedBlockingQueue<>();
    Thread.ofPlatform().daemon().name("orders").start(() -> listen(orders));
    Supplier<CrashSubject<Object>> subjects = Subjects.of(Class.forName(arguments[0]));
    StateChecker<Object> working = new StateChecker<>(subjects, /* resume= */ true);
    StateChecker<Object> looking = new StateChecker<>(subjects, /* resume= */ false);
    String file = "";
    PromiseLog log = new PromiseLog();
    while (true) {
      String[] order = orders.take().split("\t", 4); // place, how, promises, directory
      if (!order[2].equals(file)) {
        file = order[2];
        log = read(Path.of(file));
      }
      if (Boolean.getBoolean(STOP)) {
        stopBeforeOpen();
      }
      StateChecker<Object> checker = order[1].equals("look") ? looking : working;
      String result =
          ResultCodec.encode(
              checker.checkIn(
                  Path.of(order[3]), log, Long.parseLong(order[0]), order[1].equals("whole")));
      out.write((result + "\n").getBytes(StandardCharsets.US_ASCII));
    }
  }

  private static PromiseLog read(Path file) throws IOException {
    try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
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
    Runtime.getRuntime().halt(4);
  }
}
