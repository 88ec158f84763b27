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
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.Subjects;

/**
 * A JVM that opens and checks directories, one after the other, as its parent orders by lines. It
 * ends when its standard input does, so it does not outlive its parent.
 */
public final class WorkerMain {

  private WorkerMain() {}

  /**
   * Works until the parent ends.
   *
   * @param arguments the subject's class, a file with the promises
   * @throws Exception if the parent's files cannot be read
   */
  public static void main(String[] arguments) throws Exception {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err);
    LinkedBlockingQueue<String> orders = new LinkedBlockingQueue<>();
    Thread.ofPlatform().daemon().name("orders").start(() -> listen(orders));
    PromiseLog log;
    try (DataInputStream in = new DataInputStream(Files.newInputStream(Path.of(arguments[1])))) {
      log = PromiseLog.readFrom(in);
    }
    StateChecker<Object> checker =
        new StateChecker<>(Subjects.of(Class.forName(arguments[0])), /* resume= */ true);
    while (true) {
      String[] order = orders.take().split("\t", 3); // place, how, directory
      String result =
          ResultCodec.encode(
              checker.checkIn(
                  Path.of(order[2]), log, Long.parseLong(order[0]), order[1].equals("whole")));
      out.write((result + "\n").getBytes(StandardCharsets.US_ASCII));
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
