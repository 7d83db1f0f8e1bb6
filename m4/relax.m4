dnl SPDX-License-Identifier: GPL-2.0-only
dnl Macros of perf-relax's configure.

dnl RELAX_NEEDS_INIT, RELAX_MISSING(WHAT, DEBIAN, FEDORA, OPENSUSE, ARCH), RELAX_NEEDS_REPORT:
dnl collect everything that is missing, so that one run of configure names all of it.
AC_DEFUN([RELAX_NEEDS_INIT], [
relax_missing_what=
relax_missing_debian=
relax_missing_fedora=
relax_missing_opensuse=
relax_missing_arch=
])
AC_DEFUN([RELAX_MISSING], [
AS_VAR_APPEND([relax_missing_what], ["
    $1: Debian/Ubuntu $2; Fedora $3; openSUSE $4; Arch $5"])
])
AC_DEFUN([RELAX_NEEDS_REPORT], [
AS_IF([test -n "$relax_missing_what"], [AC_MSG_ERROR([these are missing; install the packages named for your distribution and run configure again:
$relax_missing_what

On Debian or Ubuntu, scripts/install-deps installs all of them.])])
])

dnl RELAX_LIBRARY(VARIABLE, PKG-CONFIG-MODULES or empty, LIB, HEADER, FUNCTION, OTHER-LIBS, NAME, DEBIAN, FEDORA, OPENSUSE, ARCH)
dnl Set VARIABLE_CFLAGS and VARIABLE_LIBS from pkg-config, or from a link test where there is no .pc file. Whatever pkg-config says,
dnl header and function are then tried, so that a half-installed library is found here and not by the linker.
AC_DEFUN([RELAX_LIBRARY], [
AC_ARG_VAR([$1][_CFLAGS], [C compiler flags for $7, instead of what is found])
AC_ARG_VAR([$1][_LIBS], [linker flags for $7, instead of what is found])
AC_MSG_CHECKING([for $7])
AS_IF([test -z "$$1[]_LIBS"], [
	m4_ifval([$2], [AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists "$2" 2>/dev/null], [
		$1[]_CFLAGS=`$PKG_CONFIG --cflags "$2"`
		$1[]_LIBS=`$PKG_CONFIG --libs "$2"`])])
	AS_IF([test -z "$$1[]_LIBS"], [$1[]_LIBS="-l$3 $6"])
])
relax_save_CFLAGS=$CFLAGS
relax_save_LIBS=$LIBS
CFLAGS="$CFLAGS $$1[]_CFLAGS"
LIBS="$$1[]_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define MATHLIB_STANDALONE 1
#include <$4>]], [[void *volatile p = (void *)&$5; return !p;]])],
	[AC_MSG_RESULT([$$1[]_CFLAGS $$1[]_LIBS])],
	[AC_MSG_RESULT([no])
	RELAX_MISSING([$7], [$8], [$9], [$10], [$11])])
CFLAGS=$relax_save_CFLAGS
LIBS=$relax_save_LIBS
])

dnl RELAX_LIBPERF: LIBPERF_CFLAGS, LIBPERF_LIBS, from --with-libperf=DIR, pkg-config, the system's library, or built by
dnl scripts/build-libperf from the distribution's kernel source into the build tree.
AC_DEFUN([RELAX_LIBPERF], [
AC_ARG_WITH([libperf], [AS_HELP_STRING([--with-libperf=DIR],
	[use DIR/lib/libperf.a and DIR/include (made by scripts/build-libperf); "build": build it even where the system has one])])
AC_ARG_WITH([libperf-source], [AS_HELP_STRING([--with-libperf-source=X],
	[kernel source (linux-source-*.tar.* or unpacked) to build libperf from; default: the newest under /usr/src])])
AC_SUBST([LIBPERF_CFLAGS])
AC_SUBST([LIBPERF_LIBS])
relax_libperf_from=
AS_CASE([$with_libperf],
	[""|yes], [
		AC_MSG_CHECKING([for a system libperf])
		AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists libperf 2>/dev/null], [
			LIBPERF_CFLAGS=`$PKG_CONFIG --cflags libperf`
			LIBPERF_LIBS=`$PKG_CONFIG --libs libperf`], [LIBPERF_LIBS=-lperf])
		RELAX_TRY_LIBPERF([
			relax_libperf_from="system ($LIBPERF_LIBS)"
			AC_MSG_RESULT([$LIBPERF_LIBS])], [AC_MSG_RESULT([no])])
	],
	[build|no], [],
	[
		AC_MSG_CHECKING([for libperf in $with_libperf])
		relax_libperf_dir=`cd "$with_libperf" 2>/dev/null && pwd`
		LIBPERF_CFLAGS="-I$relax_libperf_dir/include"
		LIBPERF_LIBS="$relax_libperf_dir/lib/libperf.a $relax_libperf_dir/lib/libapi.a"
		RELAX_TRY_LIBPERF([relax_libperf_from=$with_libperf; AC_MSG_RESULT([yes])],
			[AC_MSG_ERROR([--with-libperf=$with_libperf does not hold a libperf for $host:
build one with CC="$CC" scripts/build-libperf DIR])])
	])
AS_IF([test -z "$relax_libperf_from"], [
	relax_libperf_source=$with_libperf_source
	AS_IF([test -z "$relax_libperf_source"],
		[relax_libperf_source=`"$srcdir/scripts/build-libperf" --find`])
	AS_IF([test -z "$relax_libperf_source"], [
		RELAX_MISSING([libperf], [linux-source (libperf is built from it)], [libperf-devel], [libperf-devel],
			[a kernel source, with --with-libperf-source])
	], [
		LIBPERF_CFLAGS="-I`pwd`/libperf/include"
		LIBPERF_LIBS="`pwd`/libperf/lib/libperf.a `pwd`/libperf/lib/libapi.a"
		AS_IF([test -f libperf/lib/libperf.a && test -f libperf/lib/libapi.a &&
			test "x`cat libperf/made-for 2>/dev/null`" = "x$CC $relax_libperf_source"], [
			AC_MSG_NOTICE([libperf: as built before in ./libperf])
		], [
			AC_MSG_NOTICE([libperf: building from $relax_libperf_source])
			rm -f libperf/made-for
			AS_IF([CC="$CC" AR="$AR" "$srcdir/scripts/build-libperf" --source "$relax_libperf_source" libperf],
				[echo "$CC $relax_libperf_source" >libperf/made-for],
				[AC_MSG_ERROR([libperf could not be built from $relax_libperf_source;
another kernel source can be named with --with-libperf-source])])
		])
		AC_MSG_CHECKING([whether the libperf built works])
		RELAX_TRY_LIBPERF([AC_MSG_RESULT([yes])], [
			AC_MSG_RESULT([no])
			AC_MSG_ERROR([the libperf built from $relax_libperf_source does not link; see config.log])])
		relax_libperf_from="built from $relax_libperf_source"
	])
])
])

AC_DEFUN([RELAX_TRY_LIBPERF], [
relax_save_CFLAGS=$CFLAGS
relax_save_LIBS=$LIBS
CFLAGS="$CFLAGS $LIBPERF_CFLAGS"
LIBS="$LIBPERF_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>]], [[struct perf_evlist *list = perf_evlist__new(); perf_evlist__delete(list);]])], [relax_ok=yes], [relax_ok=no])
CFLAGS=$relax_save_CFLAGS
LIBS=$relax_save_LIBS
AS_IF([test $relax_ok = yes], [$1], [LIBPERF_CFLAGS= LIBPERF_LIBS=
$2])
])

dnl RELAX_CMOCKA: CMOCKA_CFLAGS, CMOCKA_LIBS, conditional CMOCKA.
AC_DEFUN([RELAX_CMOCKA], [
AC_ARG_VAR([CMOCKA_CFLAGS], [C compiler flags for cmocka])
AC_ARG_VAR([CMOCKA_LIBS], [linker flags for cmocka])
AC_MSG_CHECKING([for cmocka])
AS_IF([test -z "$CMOCKA_LIBS"], [
	AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists cmocka 2>/dev/null], [
		CMOCKA_CFLAGS=`$PKG_CONFIG --cflags cmocka`
		CMOCKA_LIBS=`$PKG_CONFIG --libs cmocka`], [CMOCKA_LIBS=-lcmocka])])
relax_save_CFLAGS=$CFLAGS
relax_save_LIBS=$LIBS
CFLAGS="$CFLAGS $CMOCKA_CFLAGS"
LIBS="$CMOCKA_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>]], [[assert_true(1);]])],
	[relax_cmocka=yes; relax_cmocka_says="yes (cmocka)"],
	[relax_cmocka=no
	relax_cmocka_says="skipped: no cmocka (Debian/Ubuntu libcmocka-dev, Fedora and openSUSE libcmocka-devel, Arch cmocka)"])
CFLAGS=$relax_save_CFLAGS
LIBS=$relax_save_LIBS
AC_MSG_RESULT([$relax_cmocka])
AM_CONDITIONAL([CMOCKA], [test $relax_cmocka = yes])
])

dnl RELAX_FLAG(VARIABLE, FLAG): append FLAG to VARIABLE when the compiler takes it without a word.
AC_DEFUN([RELAX_FLAG], [
AC_MSG_CHECKING([whether $CC takes $2])
relax_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Wall -Werror $2"
AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes]); AS_VAR_APPEND([$1], [" $2"])], [AC_MSG_RESULT([no])])
CFLAGS=$relax_save_CFLAGS
])

dnl RELAX_COMPILER_FLAGS: RELAX_CFLAGS (language, warnings, hardening) and --enable-werror.
AC_DEFUN([RELAX_COMPILER_FLAGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors (for developers and CI)])])
RELAX_CFLAGS=
m4_foreach_w([relax_flag], [-std=gnu11 -Wall -Wextra -Wmissing-prototypes -Wshadow -Wconversion -Wstrict-prototypes
	-Wformat-security -fstack-protector-strong],
	[RELAX_FLAG([RELAX_CFLAGS], relax_flag)])
dnl Some toolchains define it by default, and sanitizers do not get on with it.
AS_IF([test "x${enable_sanitizers:-no}" = xno], [
	AC_MSG_CHECKING([for _FORTIFY_SOURCE])
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#if defined(_FORTIFY_SOURCE) || !defined(__OPTIMIZE__)
#error
#endif]])], [AC_MSG_RESULT([added]); AS_VAR_APPEND([RELAX_CFLAGS], [" -D_FORTIFY_SOURCE=2"])], [AC_MSG_RESULT([as the compiler has it])])
])
AS_IF([test "x$enable_werror" = xyes], [AS_VAR_APPEND([RELAX_CFLAGS], [" -Werror"])])
AC_SUBST([RELAX_CFLAGS])
RELAX_LDFLAGS=
RELAX_FLAG([RELAX_LDFLAGS], [-Wl,-z,relro])
RELAX_FLAG([RELAX_LDFLAGS], [-Wl,-z,now])
AC_SUBST([RELAX_LDFLAGS])
])

dnl RELAX_SANITIZERS: --enable-sanitizers=address,undefined | thread
AC_DEFUN([RELAX_SANITIZERS], [
AC_ARG_ENABLE([sanitizers], [AS_HELP_STRING([--enable-sanitizers=LIST], [build with -fsanitize=LIST: address,undefined or thread (for tests)])])
AS_IF([test "x${enable_sanitizers:-no}" != xno], [
	AS_IF([test "x$enable_sanitizers" = xyes], [enable_sanitizers=address,undefined])
	relax_sanitize=
	RELAX_FLAG([relax_sanitize], [-fsanitize=$enable_sanitizers])
	AS_IF([test -z "$relax_sanitize"], [AC_MSG_ERROR([$CC cannot do -fsanitize=$enable_sanitizers])])
	RELAX_CFLAGS="$RELAX_CFLAGS$relax_sanitize -fno-omit-frame-pointer"
	AS_CASE([$enable_sanitizers], [*undefined*], [RELAX_CFLAGS="$RELAX_CFLAGS -fno-sanitize-recover=undefined"])
	RELAX_LDFLAGS="$RELAX_LDFLAGS$relax_sanitize"
])
AM_CONDITIONAL([SANITIZERS], [test "x${enable_sanitizers:-no}" != xno])
])

dnl RELAX_M32: can this compiler make programs for the 32-bit side of the same processor? Sets M32_CFLAGS, M32_LDFLAGS, the conditional M32, relax_m32_says.
dnl Statically linked where that works, so that it runs where no 32-bit libraries are. Debian keeps <asm/...> where -m32 looks only with gcc-multilib.
AC_DEFUN([RELAX_M32], [
	M32_CFLAGS= M32_LDFLAGS= relax_m32_says=no
	AS_CASE([$host_cpu], [x86_64], [
		relax_save_CFLAGS=$CFLAGS
		relax_save_LDFLAGS=$LDFLAGS
		relax_m32_asm=/usr/include/`$CC -print-multiarch 2>/dev/null`
		AC_MSG_CHECKING([for a compiler of 32-bit programs])
		for relax_m32_link in "-m32 -static" "-m32"; do
			for relax_m32_compile in "-m32" "-m32 -idirafter $relax_m32_asm"; do
				AS_IF([test "x$relax_m32_says" = xno], [
					CFLAGS="$relax_save_CFLAGS $relax_m32_compile"
					LDFLAGS="$relax_save_LDFLAGS $relax_m32_link"
					AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <errno.h>
						#include <linux/prctl.h>]], [[return errno == PR_SET_TSC && sizeof(void *) != 4;]])],
						[M32_CFLAGS=$relax_m32_compile M32_LDFLAGS=$relax_m32_link relax_m32_says="yes ($relax_m32_link)"])
				])
			done
		done
		CFLAGS=$relax_save_CFLAGS
		LDFLAGS=$relax_save_LDFLAGS
		AC_MSG_RESULT([$relax_m32_says])
	])
	AC_SUBST([M32_CFLAGS])
	AC_SUBST([M32_LDFLAGS])
	AM_CONDITIONAL([M32], [test "x$relax_m32_says" != xno])
])
