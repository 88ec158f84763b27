package org.revenantdb.chaos.inject;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Defines a store and its subject once more in this JVM, with points in the chosen classes.
 *
 * <p>Only the JDK, JUnit and this framework are shared with the other classes of the JVM. All other
 * classes are defined again, changed or not, because a class that is not would refer to the
 * original store. Static state of the store is new, too.
 *
 * <p>Threads: any.
 */
public final class InjectedClasses extends ClassLoader {

  /** Shared whatever they are chosen by: a subject implements and receives their types. */
  private static final List<String> SHARED =
      List.of(
          "java.",
          "javax.",
          "jdk.",
          "sun.",
          "com.sun.",
          "org.junit.",
          "org.opentest4j.",
          "org.apiguardian.",
          "org.jspecify.");

  /** Packages of the framework that are shared although they are chosen. */
  private static final List<String> SEAM =
      List.of(
          "org.revenantdb.chaos.inject.",
          "org.revenantdb.chaos.junit.",
          "org.revenantdb.chaos.oracle.",
          "org.revenantdb.chaos.profile.",
          "org.revenantdb.chaos.subject.",
          "org.revenantdb.chaos.trace.");

  static {
    registerAsParallelCapable();
  }

  private final Source source;
  private final Class<?> hook;

  private InjectedClasses(Source source) {
    super("injected", source.original);
    this.source = source;
    String name = Hook.class.getName();
    byte[] bytes = source.bytes(name);
    if (bytes == null) {
      throw new IllegalStateException("the code of " + name + " is not found");
    }
    this.hook = defineClass(name, bytes, 0, bytes.length);
  }

  /**
   * Where the classes come from; the changed ones are kept, so that the next loader need not change
   * them again.
   */
  public static final class Source {
    private final ClassLoader original;
    private final PointTransformer transformer;
    private final String subject;
    private final ErrorSites sites;
    private final String framework;
    private final Map<String, byte[]> changed = new ConcurrentHashMap<>();

    /**
     * Creates a source.
     *
     * @param subject the class of the subject
     * @param prefixes the beginnings of the names of the classes that are changed; behind {@code !}
     *     of those that are not
     */
    public Source(Class<?> subject, List<String> prefixes) {
      this.original = subject.getClassLoader();
      this.framework = folder(Hook.class);
      this.subject = subject.getName();
      this.sites = new ErrorSites();
      this.transformer = new PointTransformer(sites, prefixes, subject);
    }

    /**
     * Returns the points of the classes that were loaded so far.
     *
     * @return the points
     */
    public ErrorSites sites() {
      return sites;
    }

    /**
     * Creates a loader without any class.
     *
     * @return the loader
     */
    public InjectedClasses load() {
      return new InjectedClasses(this);
    }

    private @Nullable URL find(String className) {
      return original.getResource(className.replace('.', '/') + ".class");
    }

    private byte @Nullable [] bytes(String className) {
      URL url = find(className);
      if (url == null) {
        return null;
      }
      try (InputStream in = url.openStream()) {
        return in.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException("the code of " + className + " cannot be read", e);
      }
    }

    private boolean isShared(String className) {
      if (SHARED.stream().anyMatch(className::startsWith)) {
        return true;
      }
      URL url = find(className);
      if (url == null || url.getProtocol().equals("jrt")) {
        return true; // if it is missing, the parent reports it
      }
      if (isOfFramework(className, url) && SEAM.stream().anyMatch(className::startsWith)) {
        return true;
      }
      return !transformer.isOfSubject(className)
          && !transformer.isChosen(className)
          && isOfFramework(className, url);
    }

    /** The tests of the framework have its packages, and are stores. */
    private boolean isOfFramework(String className, URL url) {
      return className.startsWith("org.revenantdb.chaos.") && url.toString().startsWith(framework);
    }

    private static String folder(Class<?> type) {
      String file = "/" + type.getName().replace('.', '/') + ".class";
      String url = String.valueOf(type.getResource(file));
      return url.substring(0, Math.max(0, url.length() - file.length()));
    }
  }

  /**
   * Returns the points of the classes.
   *
   * @return those of all loaders of the same source
   */
  public ErrorSites sites() {
    return source.sites;
  }

  /**
   * Returns the subject as defined here.
   *
   * @return its class
   */
  public Class<?> subject() {
    try {
      return Class.forName(source.subject, /* initialize= */ true, this);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("the subject is not found again", e);
    }
  }

  /**
   * Returns whether a class is one of the chosen ones.
   *
   * @param className binary name
   * @return true if it has points, unless it could not be changed
   */
  public boolean isOfStore(String className) {
    return source.transformer.isChosen(className);
  }

  /**
   * Returns whether a class belongs to the subject.
   *
   * @param className binary name
   * @return as {@link PointTransformer#isOfSubject}
   */
  public boolean isOfSubject(String className) {
    return source.transformer.isOfSubject(className);
  }

  /**
   * Counts the threads of these classes that are alive. A thread has the context class loader of
   * the thread that started it, so those that a life has left are found by it.
   *
   * @return their number
   */
  public int threads() {
    Thread own = Thread.currentThread();
    return (int)
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> !thread.equals(own) && equals(thread.getContextClassLoader()))
            .count();
  }

  /**
   * Sets what receives the points from now on.
   *
   * @param injector of the next life; null: nobody
   */
  public void inject(@Nullable IntConsumer injector) {
    try {
      hook.getField("injector").set(null, injector);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the hook cannot be set", e);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      return source.isShared(name) ? super.loadClass(name, resolve) : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    byte[] bytes = source.changed.get(name);
    if (bytes == null) {
      byte[] original = source.bytes(name);
      if (original == null) {
        throw new ClassNotFoundException(name);
      }
      bytes =
          source.transformer.isChosen(name)
              ? source.transformer.transform(name, original, source.original)
              : original;
      source.changed.put(name, bytes);
    }
    return defineClass(name, bytes, 0, bytes.length);
  }
}
