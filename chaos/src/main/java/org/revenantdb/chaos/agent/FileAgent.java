package org.revenantdb.chaos.agent;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The agent: reports the calls of native methods for files to a {@link CallListener}.
 *
 * <p>Threads: one installs it.
 */
public final class FileAgent {

  private static @Nullable Instrumentation instrumentation;

  private final NativeCalls table;
  private final Internals internals;

  private FileAgent(NativeCalls table, Internals internals) {
    this.table = table;
    this.internals = internals;
  }

  /**
   * Called by the JVM before {@code main}.
   *
   * @param options not used
   * @param given by the JVM
   */
  public static void premain(@Nullable String options, Instrumentation given) {
    instrumentation = given;
  }

  /**
   * Writes the archive for the flag {@code -javaagent:}.
   *
   * @param directory exists and has no archive yet
   * @return the archive
   * @throws IOException if it cannot be written
   */
  public static AgentJar write(Path directory) throws IOException {
    return AgentJar.write(directory, FileAgent.class, List.of(Bridge.class, CallListener.class));
  }

  /**
   * Changes the classes of this JVM. Calls are reported from {@link Bridge#listener} on.
   *
   * @return the table of numbers, and what a recorder needs
   * @throws UnsupportedOperationException if calls would not be seen, with the names of the methods
   * @throws IOException if classes cannot be read
   */
  public static FileAgent install() throws IOException {
    Instrumentation with = instrumentation;
    if (with == null) {
      throw new UnsupportedOperationException("this JVM was started without the agent");
    }
    NativeCalls table = NativeCalls.of(System.getProperty("os.name"));
    try {
      Internals internals = Internals.open(with);
      CallSites sites = CallSites.scan(table);
      refuse(sites);
      Changer changer = new Changer(sites);
      Class<?>[] callers = callers(sites, with);
      with.addTransformer(changer, /* canRetransform= */ true);
      with.retransformClasses(callers);
      changer.refuse();
      refuse(sites);
      return new FileAgent(table, internals);
    } catch (ReflectiveOperationException | UnmodifiableClassException e) {
      throw new UnsupportedOperationException(
          "this JDK does not have what the agent needs: " + e.getMessage(), e);
    }
  }

  private static void refuse(CallSites sites) {
    if (!sites.problems().isEmpty()) {
      throw new UnsupportedOperationException(
          "the agent does not know the file classes of this JDK: "
              + String.join("; ", sites.problems()));
    }
  }

  /** All are loaded now, so that what fails is known before recording begins. */
  private static Class<?>[] callers(CallSites sites, Instrumentation with)
      throws ClassNotFoundException {
    List<Class<?>> found = new ArrayList<>();
    for (String name : sites.callers()) {
      Class<?> type = Class.forName(name.replace('/', '.'), /* initialize= */ false, null);
      if (!with.isModifiableClass(type)) {
        throw new UnsupportedOperationException("the class cannot be changed: " + name);
      }
      found.add(type);
    }
    return found.toArray(Class<?>[]::new);
  }

  /** The native methods that are reported; the number of one is its place here. */
  public List<NativeCalls.Line> calls() {
    return table.lines();
  }

  /** What a recorder needs. */
  public Internals internals() {
    return internals;
  }

  /** Changes the callers. An exception would be dropped by the JVM, so it is kept here. */
  private static final class Changer implements ClassFileTransformer {

    private final CallSites sites;
    private final List<String> done = new ArrayList<>();
    private @Nullable Throwable failure;

    Changer(CallSites sites) {
      this.sites = sites;
    }

    @Override
    public byte @Nullable [] transform(
        @Nullable ClassLoader loader,
        String name,
        @Nullable Class<?> type,
        ProtectionDomain domain,
        byte[] code) {
      if (loader != null || name == null || !sites.callers().contains(name)) {
        return null;
      }
      try {
        byte[] changed = sites.change(code);
        synchronized (this) {
          done.add(name);
        }
        return changed;
      } catch (Throwable e) { // the class stays as it is
        synchronized (this) {
          failure = e;
        }
        return null;
      }
    }

    synchronized void refuse() {
      if (failure != null) {
        throw new UnsupportedOperationException("a class could not be changed", failure);
      }
      if (!done.containsAll(sites.callers())) {
        throw new UnsupportedOperationException(
            "the JVM changed only some of the classes: " + Arrays.toString(done.toArray()));
      }
    }
  }
}
