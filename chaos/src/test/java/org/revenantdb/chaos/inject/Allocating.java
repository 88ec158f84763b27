package org.revenantdb.chaos.inject;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Code with one point of each kind in each method. */
public final class Allocating implements Supplier<List<String>> {

  static final List<String> EARLY = new ArrayList<>(early());

  private static final Deque<String> DEQUE = new ArrayDeque<>();

  private final List<String> done = new ArrayList<>();

  /** Creates the code. */
  public Allocating() {}

  private static List<String> early() {
    return List.of("a", "b");
  }

  @Override
  public List<String> get() {
    created();
    array();
    objects();
    cube();
    boxed(1000);
    concatenated(7);
    captured(8);
    pushed();
    deep(5);
    return done;
  }

  private void created() {
    done.add(new StringBuilder().toString().isEmpty() ? "created" : "");
  }

  private void array() {
    byte[] bytes = new byte[2];
    done.add(bytes.length == 2 ? "array" : "");
  }

  private void objects() {
    Object[] all = new Object[2];
    done.add(all.length == 2 ? "objects" : "");
  }

  private void cube() {
    int[][][] all = new int[2][3][];
    done.add(all.length == 2 ? "cube" : "");
  }

  private void boxed(int number) {
    Integer box = number;
    done.add(box.hashCode() == number ? "boxed" : "");
  }

  private void concatenated(int number) {
    String text = "n" + number;
    done.add(text.length() == 2 ? "concatenated" : "");
  }

  private void captured(int number) {
    IntSupplier lambda = () -> number;
    done.add(lambda.getAsInt() == number ? "captured" : "");
  }

  private void pushed() {
    Deque<String> deque = DEQUE;
    deque.push("pushed");
    done.add(deque.pop());
  }

  private void deep(int more) {
    if (more > 0) {
      deep(more - 1);
    } else {
      done.add("deep");
    }
  }
}
