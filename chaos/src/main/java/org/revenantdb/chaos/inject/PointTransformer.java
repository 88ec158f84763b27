package org.revenantdb.chaos.inject;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassHierarchyResolver.ClassHierarchyInfo;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Puts calls of the {@link Hook} into a class: before each place that allocates, and at the
 * beginning of each method. The README lists the places.
 *
 * <p>Static initializers are left alone: a class whose initializer has failed is unusable for ever.
 *
 * <p>Threads: any.
 */
public final class PointTransformer {

  private static final ClassDesc HOOK = ClassDesc.of(Hook.class.getName());
  private static final MethodTypeDesc OF_POINT =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);

  /** Methods of the JDK that may allocate, whatever they belong to. */
  private static final Set<String> GREEDY =
      Set.of(
          "add",
          "addAll",
          "addFirst",
          "addLast",
          "allocate",
          "allocateDirect",
          "asByteBuffer",
          "asSlice",
          "clone",
          "complete",
          "completeExceptionally",
          "compute",
          "computeIfAbsent",
          "copyOf",
          "copyOfRange",
          "descendingIterator",
          "entrySet",
          "execute",
          "increment",
          "iterator",
          "keySet",
          "merge",
          "of",
          "ofArray",
          "ofEntries",
          "offer",
          "put",
          "putIfAbsent",
          "reinterpret",
          "stream",
          "sort",
          "toArray",
          "toList",
          "toString",
          "valueOf",
          "values",
          "withInitial");

  /** Methods that allocate nothing, whatever they belong to. */
  private static final Set<String> MODEST =
      Set.of(
          "charAt",
          "close",
          "compareTo",
          "contains",
          "endsWith",
          "equals",
          "force",
          "hashCode",
          "indexOf",
          "isBlank",
          "isEmpty",
          "isOpen",
          "lastIndexOf",
          "length",
          "position",
          "size",
          "startsWith");

  /** Classes of the JDK of which any other method may allocate. */
  private static final List<String> GREEDY_CLASSES =
      List.of("java/util/stream/", "java/nio/channels/", "java/nio/file/", "java/lang/String");

  private static final String NOT = "!";

  private final ErrorSites sites;
  private final Predicate<String> chosen;

  /**
   * Creates a transformer.
   *
   * @param sites receives the points
   * @param prefixes the beginnings of the names of the classes that are changed; behind {@code !}
   *     of those that are not
   * @param except the name of a class that is not, the subject
   */
  public PointTransformer(ErrorSites sites, List<String> prefixes, String except) {
    this.sites = sites;
    List<String> changed = prefixes.stream().filter(one -> !one.startsWith(NOT)).toList();
    List<String> others =
        prefixes.stream().filter(one -> one.startsWith(NOT)).map(one -> one.substring(1)).toList();
    this.chosen =
        name ->
            !name.equals(except)
                && changed.stream().anyMatch(name::startsWith)
                && others.stream().noneMatch(name::startsWith);
  }

  /**
   * Returns whether a class is to be changed.
   *
   * @param className binary name
   * @return true if it is
   */
  public boolean isChosen(String className) {
    return chosen.test(className);
  }

  /**
   * Changes a class.
   *
   * @param className binary name
   * @param original its bytes
   * @param loader finds the other classes that it names, as resources
   * @return the changed bytes; the original ones if it cannot be changed
   */
  public byte[] transform(String className, byte[] original, ClassLoader loader) {
    try {
      ClassFile classFile =
          ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy(loader)));
      return classFile.transformClass(classFile.parse(original), changing(className));
    } catch (IllegalArgumentException e) { // too long, or it names a class that is missing
      sites.unchanged(className, String.valueOf(e.getMessage()));
      return original;
    }
  }

  /** A class that is missing is taken for one without a superclass of interest. */
  private static ClassHierarchyResolver hierarchy(ClassLoader loader) {
    return ClassHierarchyResolver.ofResourceParsing(loader)
        .orElse(ClassHierarchyResolver.defaultResolver())
        .orElse(_ -> ClassHierarchyInfo.ofClass(ConstantDescs.CD_Object));
  }

  private ClassTransform changing(String className) {
    return (builder, element) -> {
      if (element instanceof MethodModel method
          && method.code().isPresent()
          && !method.methodName().equalsString(ConstantDescs.CLASS_INIT_NAME)) {
        String name = method.methodName().stringValue();
        int line = method.code().map(PointTransformer::firstLine).orElse(0);
        builder.transformMethod(
            method, MethodTransform.transformingCode(new Points(className, name, line)));
      } else {
        builder.with(element);
      }
    };
  }

  private static int firstLine(CodeModel code) {
    for (CodeElement element : code) {
      if (element instanceof LineNumber number) {
        return number.line();
      }
    }
    return 0;
  }

  /** Puts the calls into one method. */
  private final class Points implements CodeTransform {
    private final String className;
    private final String method;
    private int line;

    Points(String className, String method, int line) {
      this.className = className;
      this.method = method;
      this.line = line;
    }

    @Override
    public void atStart(CodeBuilder builder) {
      call(builder, ErrorSite.Kind.CALL, "");
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      if (element instanceof LineNumber number) {
        line = number.line();
      } else if (element instanceof Instruction instruction) {
        String allocated = allocated(instruction);
        if (!allocated.isEmpty()) {
          call(builder, ErrorSite.Kind.ALLOCATION, allocated);
        }
      }
      builder.with(element);
    }

    private void call(CodeBuilder builder, ErrorSite.Kind kind, String of) {
      int number = sites.add(new ErrorSite(kind, className, method, line, of));
      if (number >= 0) {
        builder.loadConstant(number).invokestatic(HOOK, "reached", OF_POINT);
      }
    }
  }

  /** What an instruction allocates; empty if nothing. */
  private static String allocated(Instruction instruction) {
    return switch (instruction) {
      case NewObjectInstruction created -> name(created.className().asSymbol());
      case NewReferenceArrayInstruction created -> name(created.componentType().asSymbol()) + "[]";
      case NewPrimitiveArrayInstruction created -> name(created.typeKind().upperBound()) + "[]";
      case NewMultiArrayInstruction created -> name(created.arrayType().asSymbol());
      case InvokeDynamicInstruction linked -> name(linked.typeSymbol().returnType());
      case InvokeInstruction call when isGreedy(call) ->
          owner(call.owner()) + "." + call.name().stringValue();
      default -> "";
    };
  }

  private static boolean isGreedy(InvokeInstruction call) {
    String owner = call.owner().asInternalName();
    String method = call.name().stringValue();
    boolean isOfJdk = owner.startsWith("java/") || owner.startsWith("[");
    boolean isEmptyList = method.equals("of") && call.typeSymbol().parameterCount() == 0;
    return isOfJdk
        && !isEmptyList
        && !MODEST.contains(method)
        && !owner.equals("java/lang/invoke/VarHandle")
        && !owner.startsWith("java/util/concurrent/atomic/Atomic")
        && (GREEDY.contains(method) || GREEDY_CLASSES.stream().anyMatch(owner::startsWith));
  }

  private static String owner(ClassEntry entry) {
    return name(entry.asSymbol());
  }

  private static String name(ClassDesc type) {
    if (type.isArray()) {
      return name(type.componentType()) + "[]";
    }
    return type.packageName().isEmpty()
        ? type.displayName()
        : type.packageName() + "." + type.displayName();
  }
}
